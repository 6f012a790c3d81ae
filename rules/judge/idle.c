/* SPDX-License-Identifier: MIT */
#include "rules/judge/idle.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/judge/idle_host.h"
#include "rules/support/intervals.h"

static int judged_time(const struct tfs_timeline *timeline, struct tfs_intervals *judged)
{
	int err = 0;

	for (uint32_t i = 0; i < timeline->judged_count && !err; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];

		err = tfs_intervals_add(judged, step->start_ns, step->end_ns);
	}
	tfs_intervals_unite(judged);
	return err;
}

static struct tfs_idle_owner owner_of(
	const struct tfs_timeline *timeline, const struct tfs_idle *idle)
{
	struct tfs_idle_owner owner = {.why = (enum tfs_idle_why)idle->why};

	if (owner.why == TFS_IDLE_QUEUED || idle->call == TFS_NONE)
		return owner;
	owner.site = timeline->calls[idle->call].record->site;
	owner.function = timeline->calls[idle->call].function;
	return owner;
}

static int by_owner(const void *a, const void *b)
{
	const struct tfs_idle_owner *x = a, *y = b;

	if (x->why != y->why)
		return x->why < y->why ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->explained > y->explained) - (x->explained < y->explained);
}

static int by_time(const void *a, const void *b)
{
	const struct tfs_idle_owner *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return by_owner(a, b);
}

static size_t join(struct tfs_idle_owner *items, size_t count)
{
	size_t kept = 0;

	qsort(items, count, sizeof(*items), by_owner);
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_owner(&items[kept - 1], &items[i]))
			items[kept - 1].ns += items[i].ns;
		else
			items[kept++] = items[i];
	}
	return kept;
}

/* Host code behind a call is not what a finding about the call is about. */
static bool explained(
	const struct tfs_idle_owner *owner, const struct tfs_finding *findings, size_t count)
{
	if (owner->why != TFS_IDLE_DRAINED && owner->why != TFS_IDLE_CALL)
		return false;
	for (size_t i = 0; i < count; i++)
		if (findings[i].site && findings[i].site == owner->site &&
			findings[i].function == owner->function)
			return true;
	return false;
}

int tfs_idle_find(const struct tfs_timeline *timeline, const struct tfs_finding *findings,
	size_t finding_count, const bool *owned, struct tfs_arena *arena,
	struct tfs_idle_summary *out_idle)
{
	const double steps =
		(double)timeline->judged_count * tfs_timeline_working_devices(timeline);
	struct tfs_intervals judged = {0};
	size_t count = 0;

	*out_idle = (struct tfs_idle_summary){0};
	if (!(steps > 0))
		return 0;
	out_idle->items =
		tfs_arena_alloc(arena, timeline->idle_count + 1u, sizeof(*out_idle->items));
	if (!out_idle->items || judged_time(timeline, &judged)) {
		tfs_intervals_finish(&judged);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < timeline->idle_count; i++) {
		const struct tfs_idle *idle = &timeline->idles[i];
		const uint64_t ns = tfs_intervals_covered(&judged, idle->start_ns, idle->end_ns);

		if (ns == 0)
			continue;
		out_idle->items[count] = owner_of(timeline, idle);
		out_idle->items[count].explained = owned && owned[i];
		out_idle->items[count++].ns = (double)ns / steps;
	}
	out_idle->count = join(out_idle->items, count);
	qsort(out_idle->items, out_idle->count, sizeof(*out_idle->items), by_time);
	for (size_t i = 0; i < out_idle->count; i++) {
		struct tfs_idle_owner *owner = &out_idle->items[i];

		owner->explained |= explained(owner, findings, finding_count);
		out_idle->ns += owner->ns;
		out_idle->explained_ns += owner->explained ? owner->ns : 0;
	}
	const int err = tfs_idle_sample(timeline, &judged, owned, arena, out_idle);
	tfs_intervals_finish(&judged);
	return err;
}
