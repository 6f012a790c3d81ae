/* SPDX-License-Identifier: MIT */
#include "rules/timeline/timeline_build.h"

/* The first call of a thread that starts at or after a moment. */
static uint32_t first_call_from(
	const struct tfs_timeline *timeline, const struct tfs_host_thread *thread, uint64_t ns)
{
	uint32_t low = thread->first_call, high = low + thread->call_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (timeline->calls[middle].start_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t tfs_timeline_step_calls(const struct tfs_timeline *timeline, uint32_t step,
	uint32_t thread, const struct tfs_host_call **out_calls)
{
	uint32_t first, end;

	if (step >= timeline->step_count || thread >= timeline->thread_count)
		return 0;
	first = first_call_from(
		timeline, &timeline->threads[thread], timeline->steps[step].start_ns);
	end = first_call_from(timeline, &timeline->threads[thread], timeline->steps[step].end_ns);
	*out_calls = timeline->calls + first;
	return end - first;
}

uint32_t tfs_timeline_call_before(const struct tfs_timeline *timeline, uint32_t thread, uint64_t ns)
{
	const struct tfs_host_thread *host = &timeline->threads[thread];
	uint32_t first = first_call_from(timeline, host, ns == UINT64_MAX ? ns : ns + 1);

	return first > host->first_call ? first - 1 : TFS_NONE;
}

uint32_t tfs_timeline_step_at(const struct tfs_timeline *timeline, uint64_t ns)
{
	uint32_t low = 0, high = timeline->step_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (timeline->steps[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && ns < timeline->steps[low - 1].end_ns ? low - 1 : TFS_NONE;
}

uint32_t tfs_timeline_window_at(const struct tfs_timeline *timeline, uint64_t ns)
{
	uint32_t low = 0, high = timeline->window_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (timeline->windows[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && ns <= timeline->windows[low - 1].end_ns ? low - 1 : TFS_NONE;
}

/* Ranges are in order of time, and calls of several threads are not. */
uint32_t tfs_timeline_allocated(const struct tfs_timeline *timeline, uint32_t call)
{
	const struct tfs_host_call *made = &timeline->calls[call];
	uint32_t low = 0, high = timeline->range_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (timeline->ranges[middle].from_ns < made->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < timeline->range_count && timeline->ranges[low].from_ns <= made->end_ns; low++)
		if (timeline->ranges[low].alloc_call == call)
			return low;
	return TFS_NONE;
}

double tfs_timeline_seen_ns(const struct tfs_timeline *timeline, uint32_t flag)
{
	const uint64_t start = tfs_trace_header(timeline->trace)->start_ns;
	double ns = 0;

	for (uint32_t i = 0; i < timeline->window_count; i++) {
		const struct tfs_window *window = &timeline->windows[i];
		const uint64_t from = window->start_ns > start ? window->start_ns : start;

		if (window->flags & flag && window->end_ns != UINT64_MAX && window->end_ns > from)
			ns += (double)(window->end_ns - from);
	}
	return ns;
}

uint64_t tfs_timeline_warmup(const struct tfs_timeline *timeline)
{
	const struct tfs_fact_record *fact = tfs_trace_fact(timeline->trace, TFS_FACT_steps_warmup);

	return timeline->warmup_steps + (fact ? fact->numbers[0] : 0);
}
