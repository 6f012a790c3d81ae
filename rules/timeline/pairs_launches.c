/* SPDX-License-Identifier: MIT */
#include "rules/timeline/pairs_launches.h"

const struct tfs_window *tfs_pairs_window(const struct tfs_timeline *timeline, uint64_t ns)
{
	for (uint32_t i = 0; i < timeline->window_count; i++) {
		const struct tfs_window *window = &timeline->windows[i];

		if ((window->flags & 3) == 3 && ns >= window->start_ns && ns < window->end_ns)
			return window;
	}
	return NULL;
}

/* Of launches that only went into a graph there is no kernel record. */
struct launches {
	const struct tfs_window *window;
	uint64_t made, seen;
	uint64_t queued; /* of those made, behind the last one seen */
	bool capturing;
};

/* Other tools stop recording while the device is behind: what was queued then has no record, and
 * none is missing. */
static void close_launches(
	const struct tfs_timeline *timeline, struct tfs_pairs *out, struct launches *launches)
{
	if (tfs_trace_fact(timeline->trace, TFS_FACT_imported)) {
		out->queued += launches->queued;
		launches->made -= launches->queued;
	}
	out->launches += launches->made;
	out->launched += launches->seen;
	*launches = (struct launches){0};
}

static void count_launch(const struct tfs_timeline *timeline, struct launches *launches,
	const struct tfs_host_call *call)
{
	const bool ends = call->family == TFS_FAMILY_capture_end;
	const bool divided = timeline->evidence & TFS_NEEDS_FAMILIES;

	/* It began before the window, or in an older recording it may be an end. */
	if ((ends && !launches->capturing) || (call->family == TFS_FAMILY_capture && !divided))
		launches->made = launches->seen = launches->queued = 0;
	if (ends || call->family == TFS_FAMILY_capture)
		launches->capturing = !ends;
	if (call->family == TFS_FAMILY_launch && !launches->capturing && !call->record->status) {
		launches->made++;
		launches->seen += call->op_count != 0;
		launches->queued = call->op_count != 0 ? 0 : launches->queued + 1;
	}
}

static void walk(const struct tfs_timeline *timeline, const struct tfs_host_thread *thread,
	struct tfs_pairs *out)
{
	struct launches launches = {0};

	for (uint32_t i = 0; i < thread->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[thread->first_call + i];
		const struct tfs_window *window = tfs_pairs_window(timeline, call->start_ns);

		if (window != launches.window)
			close_launches(timeline, out, &launches);
		launches.window = window;
		if (window)
			count_launch(timeline, &launches, call);
	}
	close_launches(timeline, out, &launches);
}

void tfs_pairs_launches(const struct tfs_timeline *timeline, struct tfs_pairs *out)
{
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		walk(timeline, &timeline->threads[i], out);
}
