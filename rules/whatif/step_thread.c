/* SPDX-License-Identifier: MIT */
#include "rules/whatif/step_thread.h"

#include <stdlib.h>

/* A step's range and its mark are two records of one moment. */
#define SAME_NS 1000u

static uint32_t thread_of(const struct tfs_timeline *timeline, uint32_t tid)
{
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		if (timeline->threads[i].tid == tid)
			return i;
	return TFS_NONE;
}

static bool names(const struct tfs_timeline *timeline, const struct tfs_range_record *range,
	const struct tfs_step *step)
{
	const uint64_t start_ns = tfs_trace_ns(timeline->trace, range->start_ticks);

	return start_ns + SAME_NS >= step->start_ns && start_ns <= step->start_ns + SAME_NS;
}

/* The thread of the range that is the step, or TFS_NONE. */
static uint32_t by_name(const struct tfs_timeline *timeline, const struct tfs_step *step)
{
	const size_t count = tfs_trace_count(timeline->trace, TFS_RECORD_range);

	for (size_t i = 0; i < count && timeline->step_source == TFS_STEP_NVTX; i++) {
		const struct tfs_range_record *range =
			tfs_trace_at(timeline->trace, TFS_RECORD_range, i);

		if (range->range == TFS_RANGE_PUSHED && names(timeline, range, step))
			return thread_of(timeline, range->tid);
	}
	return TFS_NONE;
}

/* The thread of the step's first call, of those from the call site that opens it if any is. */
static uint32_t by_call(
	const struct tfs_steady *steady, uint32_t *next, const struct tfs_step *step)
{
	uint32_t first = TFS_NONE;

	while (*next < steady->call_count &&
		tfs_steady_call(steady, *next)->start_ns < step->start_ns)
		++*next;
	for (uint32_t i = *next; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (call->start_ns >= step->end_ns)
			break;
		if (first == TFS_NONE)
			first = call->thread;
		if (!step->site || call->record->site == step->site)
			return call->thread;
	}
	return first;
}

uint32_t tfs_step_thread(const struct tfs_steady *steady, uint32_t first, uint32_t count)
{
	const struct tfs_timeline *timeline = steady->timeline;
	uint32_t *votes = calloc((size_t)timeline->thread_count + 1, sizeof(*votes));
	uint32_t next = 0, best = 0;

	for (uint32_t i = first; votes && i < first + count; i++) {
		const struct tfs_step *step = &timeline->steps[steady->steps[i]];
		uint32_t thread = by_name(timeline, step);

		if (thread == TFS_NONE)
			thread = by_call(steady, &next, step);
		if (thread != TFS_NONE)
			votes[thread]++;
	}
	for (uint32_t i = 1; votes && i < timeline->thread_count; i++)
		if (votes[i] > votes[best])
			best = i;
	free(votes);
	return best;
}
