/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_TIMELINE_H
#define TFS_RULES_TIMELINE_TIMELINE_H

/*
 * One pass over a recording, laid out the way rules ask: training steps, calls by thread and step,
 * device operations by stream and by the call that caused them, memory ranges, idle time. All
 * arrays are public and constant; an index that points nowhere is TFS_NONE. All times are
 * CLOCK_MONOTONIC nanoseconds. timeline_parts.h has the arrays' elements; see also intervals.h and
 * flow.h.
 */

#include "rules/rule.h"
#include "rules/timeline/timeline_parts.h"
#include "shim/trace/trace.h"

struct tfs_timeline_private;

struct tfs_timeline {
	const struct tfs_trace *trace;    /* borrowed */
	uint32_t evidence;                /* TFS_NEEDS_* bits that are there */
	enum tfs_step_source step_source; /* 0 = no steps were found */
	bool steps_offline;               /* found after the run */

	const struct tfs_window *windows;
	const struct tfs_step *steps;
	const uint32_t *judged; /* recorded training steps with rewrites off, as indices of steps */
	const struct tfs_host_thread *threads;
	const struct tfs_host_call *calls;
	const struct tfs_stream *streams;
	const struct tfs_device_op *ops;
	const uint32_t *call_ops;
	const struct tfs_device_sync *syncs; /* by start */
	const struct tfs_allocation *ranges; /* by allocation */
	const struct tfs_device *devices;
	const struct tfs_idle *idles; /* inside windows with device activity; by device and time */
	uint32_t window_count, step_count, judged_count, thread_count, call_count, stream_count;
	uint32_t op_count, sync_count, range_count, device_count, idle_count;

	uint32_t partial_steps; /* recorded, but not judged, as records of them were lost */
	bool work_lost;         /* most of the device's work was: what there is of it is left out */
	bool judged_rewritten;  /* there were none with rewrites off: `judged` has a rewrite on */
	uint64_t training_steps; /* of the whole run, recorded or not */
	uint64_t warmup_steps;
	uint64_t other_steps;            /* evaluation and the like */
	uint64_t rewritten_steps;        /* training steps with a rewrite on */
	struct tfs_step_times inside;    /* judged steps */
	struct tfs_step_times outside;   /* training steps outside windows, rewrites off */
	struct tfs_step_times rewritten; /* training steps outside windows, a rewrite on */
	struct tfs_timeline_private *private;
};

/* Lays a trace out; 0 or a negative errno. The trace must outlive the timeline. */
int tfs_timeline_create(const struct tfs_trace *trace, struct tfs_timeline **out_timeline);
void tfs_timeline_destroy(struct tfs_timeline *timeline);

/* The calls of one thread that start within a step, in time order; returns how many. */
uint32_t tfs_timeline_step_calls(const struct tfs_timeline *timeline, uint32_t step,
	uint32_t thread, const struct tfs_host_call **out_calls);
/* The step in which a moment lies, or TFS_NONE. */
uint32_t tfs_timeline_step_at(const struct tfs_timeline *timeline, uint64_t ns);
/* Steps before the steady state, with those that ran before the recorder knew the step. */
uint64_t tfs_timeline_warmup(const struct tfs_timeline *timeline);
/* How long windows with this flag were open, from the start of the recording on. */
double tfs_timeline_seen_ns(const struct tfs_timeline *timeline, uint32_t flag);
/* Index of the window in which a moment lies, or TFS_NONE. */
uint32_t tfs_timeline_window_at(const struct tfs_timeline *timeline, uint64_t ns);
/* Index of the wrapped call in which the CUDA call of this correlation id was made, or TFS_NONE. */
uint32_t tfs_timeline_correlated(const struct tfs_timeline *timeline, uint32_t correlation);
/* Index of the range that was live at an address at a moment, or TFS_NONE. */
uint32_t tfs_timeline_range_at(const struct tfs_timeline *timeline, uint64_t address, uint64_t ns);
/* Index of the range that a call allocated, or TFS_NONE. */
uint32_t tfs_timeline_allocated(const struct tfs_timeline *timeline, uint32_t call);
/* Devices that had work. */
uint32_t tfs_timeline_working_devices(const struct tfs_timeline *timeline);

/* The next operand of a call; start with *cursor = 0; false = no more. */
bool tfs_operand_next(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	unsigned *cursor, struct tfs_operand *out_operand);

#endif
