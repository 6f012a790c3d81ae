/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/device/legacy.h"
#include "rules/device/used.h"

/* Calls of a step among which chains are looked for. */
#define MOST_CALLS 1024u

/* A step's calls that give the device work, joined where they share memory. */
struct joined {
	uint32_t calls[MOST_CALLS];
	struct tfs_used operands[MOST_CALLS];
	uint32_t parents[MOST_CALLS];
	double room[MOST_CALLS]; /* of chains, at their roots: in kernels that leave some for others
				  */
	uint32_t count;
};

static uint32_t root_of(struct joined *joined, uint32_t nth)
{
	for (; joined->parents[nth] != nth; nth = joined->parents[nth])
		joined->parents[nth] = joined->parents[joined->parents[nth]];
	return nth;
}

/* What a call's kernels that leave room take, and their starts. */
static double room_ns(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double ns = 0;

	for (uint32_t i = 0; i < call->op_count; i++)
		if (tfs_legacy_leaves_room(
			    timeline, &timeline->ops[timeline->call_ops[call->first_op + i]]))
			ns += tfs_device_op_ns(
				      &timeline->ops[timeline->call_ops[call->first_op + i]]) +
			      steady->kernel_floor_ns;
	return ns;
}

/* Takes up the step's calls; false where one has other streams' work, or there are too many. */
static bool take(const struct tfs_steady *steady, uint32_t step, struct joined *joined,
	struct tfs_legacy_chains *chains)
{
	const struct tfs_timeline *timeline = steady->timeline;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		if (call->step != step || (!tfs_family_submits(call->family) && !call->op_count))
			continue;
		if (call->op_count && !tfs_legacy_works(timeline, call))
			return false;
		if (joined->count == MOST_CALLS) {
			chains->large = true;
			chains->saved_ns += room_ns(steady, call);
			continue;
		}
		joined->operands[joined->count] = tfs_used_by(timeline, call);
		if (tfs_used_unknown(timeline, call, &joined->operands[joined->count]))
			chains->opaque = steady->calls[i];
		joined->parents[joined->count] = joined->count;
		joined->calls[joined->count++] = steady->calls[i];
	}
	for (uint32_t i = 0; i < joined->count && chains->large; i++)
		chains->saved_ns += room_ns(steady, &timeline->calls[joined->calls[i]]);
	return joined->count > 0 && !chains->large;
}

static void join(const struct tfs_timeline *timeline, struct joined *joined)
{
	for (uint32_t i = 0; i < joined->count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (root_of(joined, i) != root_of(joined, j) &&
				tfs_used_both(timeline, &joined->operands[i], &joined->operands[j]))
				joined->parents[root_of(joined, i)] = root_of(joined, j);
}

static void weigh(const struct tfs_steady *steady, struct joined *joined)
{
	for (uint32_t i = 0; i < joined->count; i++) {
		const struct tfs_host_call *call = &steady->timeline->calls[joined->calls[i]];
		const uint32_t root = root_of(joined, i);

		joined->room[root] += room_ns(steady, call);
	}
}

static void conclude(struct joined *joined, struct tfs_legacy_chains *chains)
{
	uint32_t roomy = root_of(joined, 0);

	for (uint32_t i = 0; i < joined->count; i++)
		if (joined->room[i] > joined->room[roomy])
			roomy = i;
	for (uint32_t i = joined->count; i-- > 0;) {
		if (root_of(joined, i) == roomy || joined->room[root_of(joined, i)] <= 0)
			continue;
		chains->first = joined->calls[i];
		chains->saved_ns += joined->room[i];
	}
}

int tfs_legacy_chains_find(
	const struct tfs_steady *steady, uint32_t nth, struct tfs_legacy_chains *out_chains)
{
	struct joined *joined = calloc(1, sizeof(*joined));

	*out_chains = (struct tfs_legacy_chains){.first = TFS_NONE, .opaque = TFS_NONE};
	if (!joined)
		return -ENOMEM;
	if (take(steady, steady->steps[nth], joined, out_chains)) {
		join(steady->timeline, joined);
		weigh(steady, joined);
		conclude(joined, out_chains);
	}
	free(joined);
	return 0;
}
