/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_TIMELINE_BUILD_H
#define TFS_RULES_TIMELINE_TIMELINE_BUILD_H

/*
 * What the files that build a timeline share. They run in the order of the functions below; each
 * fills its part and returns 0 or -ENOMEM.
 */

#include "rules/timeline/timeline.h"

/* Live ranges by address: one row per range, by start address and then by time. */
struct tfs_range_index {
	uint32_t *order;  /* indices of ranges */
	uint64_t *reach;  /* greatest end address of this row and all before it */
	uint64_t *starts; /* distinct start addresses ... */
	uint32_t *first;  /* ... and where their rows begin; one more at the end */
	size_t count;
};

/* CUDA correlation ids to calls. */
struct tfs_correlations {
	uint32_t *calls; /* + 1; 0 = empty */
	uint32_t *ids;   /* of the slots, where they are hashed */
	size_t mask;     /* slots - 1 */
	uint32_t base;   /* the id of slot 0, where each id has its own slot */
	bool dense;
};

struct tfs_flow;

/* The arrays that struct tfs_timeline shows as constant. */
struct tfs_timeline_private {
	struct tfs_window *windows;
	struct tfs_step *steps;
	uint32_t *judged;
	struct tfs_host_thread *threads;
	struct tfs_host_call *calls;
	struct tfs_stream *streams;
	struct tfs_device_op *ops;
	uint32_t *call_ops;
	struct tfs_device_sync *syncs;
	struct tfs_allocation *ranges;
	struct tfs_device *devices;
	struct tfs_idle *idles;
	uint32_t *memory_calls; /* that allocate, release or reset */
	uint32_t memory_call_count;
	uint32_t *operand_ranges; /* of every operand of every call, in order */
	uint32_t operand_count;
	struct tfs_range_index index;
	struct tfs_correlations correlations;
	struct tfs_flow *flow; /* built when first asked for */
};

int tfs_timeline_build_windows(struct tfs_timeline *timeline);
int tfs_timeline_build_steps(struct tfs_timeline *timeline);
int tfs_timeline_build_calls(struct tfs_timeline *timeline);
int tfs_timeline_build_ranges(struct tfs_timeline *timeline);
int tfs_timeline_build_correlations(struct tfs_timeline *timeline);
int tfs_timeline_build_ops(struct tfs_timeline *timeline);
/* Leaves steps out of which records were lost. */
int tfs_timeline_leave_partial(struct tfs_timeline *timeline);
/* A window that is still open ends with the last thing recorded. */
int tfs_timeline_close_windows(struct tfs_timeline *timeline);
int tfs_timeline_build_idles(struct tfs_timeline *timeline);

/* Finds steps in the calls of a recording without marks and adds them; 0 or -ENOMEM. */
int tfs_timeline_find_steps(struct tfs_timeline *timeline);
/* Index of the last call of a thread that starts at or before a moment, or TFS_NONE. */
uint32_t tfs_timeline_call_before(
	const struct tfs_timeline *timeline, uint32_t thread, uint64_t ns);
void tfs_flow_destroy(struct tfs_flow *flow);

#endif
