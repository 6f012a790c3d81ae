/* SPDX-License-Identifier: MIT */
#include "rules/judge/idle_host.h"

#include "rules/evidence/meanwhile.h"
#include "rules/support/intervals.h"

/* Of all owners, these are told in words. */
#define MOST_SAMPLED 8u

struct search {
	const struct tfs_timeline *timeline;
	const struct tfs_intervals *judged;
	const bool *owned; /* of the timeline's idles; NULL: none is a finding's */
	struct tfs_arena *arena;
};

/* The call behind which the host held the device up, if that is the owner's; else NULL. */
static const struct tfs_host_call *call_of(
	const struct search *search, uint32_t nth, const struct tfs_idle_owner *owner)
{
	const struct tfs_idle *idle = &search->timeline->idles[nth];
	const struct tfs_host_call *call;

	if (idle->why != TFS_IDLE_HOST || idle->call == TFS_NONE ||
		(search->owned && search->owned[nth]))
		return NULL;
	call = &search->timeline->calls[idle->call];
	return call->record->site == owner->site && call->function == owner->function ? call : NULL;
}

/* From the call to the thread's next one, as far as the device was idle; in judged steps, which are
 * judged whole. */
static int add_stretch(const struct search *search, const struct tfs_idle *idle,
	const struct tfs_host_call *call, struct tfs_intervals *stretches)
{
	const uint64_t from_ns = call->end_ns > idle->start_ns ? call->end_ns : idle->start_ns;
	/* There is one: at the latest, that which gave the device work. */
	const uint64_t next_ns = call[1].start_ns;
	const uint64_t until_ns = next_ns < idle->end_ns ? next_ns : idle->end_ns;

	if (until_ns <= from_ns || !tfs_intervals_covered(search->judged, from_ns, until_ns))
		return 0;
	return tfs_intervals_add(stretches, from_ns, until_ns);
}

/* Of several threads, the one that held it up first. */
static int find_stretches(const struct search *search, const struct tfs_idle_owner *owner,
	struct tfs_intervals *stretches, uint32_t *out_thread)
{
	int err = 0;

	*out_thread = TFS_NONE;
	for (uint32_t i = 0; i < search->timeline->idle_count && !err; i++) {
		const struct tfs_host_call *call = call_of(search, i, owner);

		if (!call || (*out_thread != TFS_NONE && call->thread != *out_thread))
			continue;
		*out_thread = call->thread;
		err = add_stretch(search, &search->timeline->idles[i], call, stretches);
	}
	tfs_intervals_unite(stretches);
	return err;
}

static void tell(const struct search *search, const struct tfs_meanwhile *meanwhile,
	struct tfs_idle_owner *owner)
{
	char text[1024];

	tfs_meanwhile_text(meanwhile, search->timeline->judged_count, text, sizeof(text));
	if (!*text)
		return;
	owner->samples = tfs_arena_print(search->arena, "%s", text);
	owner->code = meanwhile->code;
}

static int sample(const struct search *search, struct tfs_idle_owner *owner)
{
	struct tfs_intervals stretches = {0};
	struct tfs_meanwhile meanwhile;
	uint32_t thread;
	int err = find_stretches(search, owner, &stretches, &thread);

	if (!err && thread != TFS_NONE) {
		err = tfs_meanwhile_find(
			search->timeline, thread, &stretches, search->arena, &meanwhile);
		if (!err)
			tell(search, &meanwhile, owner);
	}
	tfs_intervals_finish(&stretches);
	return err;
}

int tfs_idle_sample(const struct tfs_timeline *timeline, const struct tfs_intervals *judged,
	const bool *owned, struct tfs_arena *arena, struct tfs_idle_summary *idle)
{
	const struct search search = {timeline, judged, owned, arena};
	unsigned sampled = 0;
	int err = 0;

	for (size_t i = 0; i < idle->count && sampled < MOST_SAMPLED && !err; i++) {
		if (idle->items[i].explained || idle->items[i].why != TFS_IDLE_HOST)
			continue;
		err = sample(&search, &idle->items[i]);
		sampled++;
	}
	return err;
}
