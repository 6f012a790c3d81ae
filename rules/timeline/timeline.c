/* SPDX-License-Identifier: MIT */
#include "rules/timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/timeline/timeline_build.h"

static int (*const parts[])(struct tfs_timeline *) = {
	tfs_timeline_build_windows,
	tfs_timeline_build_steps,
	tfs_timeline_build_calls,
	tfs_timeline_build_ranges,
	tfs_timeline_build_correlations,
	tfs_timeline_build_ops,
	tfs_timeline_leave_partial,
	tfs_timeline_close_windows,
	tfs_timeline_build_idles,
};

static bool library_seen(const struct tfs_timeline *timeline, enum tfs_library library)
{
	const struct tfs_trace *trace = timeline->trace;
	const struct tfs_library_record *record =
		tfs_trace_find(trace, TFS_RECORD_library, library);
	const struct tfs_total *totals;
	size_t count = tfs_trace_totals(trace, &totals, NULL);

	if (record && record->flags & 1)
		return true;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_function_record *function =
			tfs_trace_find(trace, TFS_RECORD_function, totals[i].sum.function);

		if (function && function->library == library)
			return true;
	}
	return false;
}

static bool has_calls(const struct tfs_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->window_count; i++)
		if (timeline->windows[i].flags & 1 && timeline->call_count)
			return true;
	return false;
}

static uint32_t find_evidence(const struct tfs_timeline *timeline)
{
	uint32_t evidence = 0;

	if (timeline->judged_count)
		evidence |= TFS_NEEDS_STEPS;
	if (has_calls(timeline))
		evidence |= TFS_NEEDS_CALLS;
	if (timeline->op_count)
		evidence |= TFS_NEEDS_DEVICE;
	if (library_seen(timeline, TFS_LIBRARY_cudart))
		evidence |= TFS_NEEDS_RUNTIME;
	if (library_seen(timeline, TFS_LIBRARY_cudnn))
		evidence |= TFS_NEEDS_CUDNN;
	if (tfs_trace_header(timeline->trace)->version >= TFS_FORMAT_DIVIDED)
		evidence |= TFS_NEEDS_FAMILIES;
	return evidence;
}

int tfs_timeline_create(const struct tfs_trace *trace, struct tfs_timeline **out_timeline)
{
	struct tfs_timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return -ENOMEM;
	timeline->trace = trace;
	timeline->private = calloc(1, sizeof(*timeline->private));
	if (!timeline->private) {
		free(timeline);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		int err = parts[i](timeline);

		if (err) {
			tfs_timeline_destroy(timeline);
			return err;
		}
	}
	timeline->evidence = find_evidence(timeline);
	*out_timeline = timeline;
	return 0;
}

void tfs_timeline_destroy(struct tfs_timeline *timeline)
{
	struct tfs_timeline_private *own;

	if (!timeline)
		return;
	own = timeline->private;
	free(own->windows);
	free(own->steps);
	free(own->judged);
	free(own->threads);
	free(own->calls);
	free(own->streams);
	free(own->ops);
	free(own->call_ops);
	free(own->syncs);
	free(own->ranges);
	free(own->devices);
	free(own->idles);
	free(own->operand_ranges);
	free(own->index.order);
	free(own->index.reach);
	free(own->index.starts);
	free(own->index.first);
	free(own->correlations.calls);
	free(own->correlations.ids);
	free(own->memory_calls);
	tfs_flow_destroy(own->flow);
	free(own);
	free(timeline);
}
