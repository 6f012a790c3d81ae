/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_STEPS_H
#define TFS_SHIM_TRACE_FORMAT_STEPS_H

/* Part of format.h: steps, windows, and the ranges that a program names. */

#include "shim/trace/format/record.h"

/* The start of a step (its end is the next one's start); index 0 = warm-up before the first. */
struct tfs_step_record {
	struct tfs_record record;
	uint16_t phase; /* enum tfs_phase */
	uint32_t site;  /* call site that opens the step */
	uint64_t start_ticks;
	uint64_t index;
	uint32_t source; /* enum tfs_step_source */
	uint32_t flags;  /* 1 = a rewrite was on during this step, 2 = inside a window, and below */
};

#define TFS_STEP_ANEW                                                                              \
	4u /* all that was marked before was no training: another loop is the step                 \
	    */

enum tfs_phase {
	TFS_PHASE_WARMUP = 0,
	TFS_PHASE_TRAINING = 1,
	TFS_PHASE_EVALUATION = 2,
	TFS_PHASE_OTHER = 3
};
enum tfs_step_source { TFS_STEP_LOOPS = 1, TFS_STEP_API = 2, TFS_STEP_NVTX = 3 };

/* Durations of consecutive steps outside windows: float ticks follow this struct. */
struct tfs_steps_record {
	struct tfs_record record;
	uint16_t count;
	uint32_t reserved1;
	uint64_t first_index;
	uint64_t first_start_ticks;
	uint32_t flags; /* as in tfs_step_record */
	uint32_t reserved0;
};

struct tfs_window_record {
	struct tfs_record record;
	uint16_t opens;  /* 0 = closes */
	uint32_t number; /* from 1 */
	uint64_t ticks;
	uint64_t step;
	uint32_t flags; /* 1 = call records, 2 = CUPTI activity, 4 = everything is recorded */
	uint32_t reserved0;
};

enum tfs_range_kind { TFS_RANGE_PUSHED = 1, TFS_RANGE_STARTED = 2, TFS_RANGE_MARK = 3 };

/* A range or mark that the program named by NVTX. */
struct tfs_range_record {
	struct tfs_record record;
	uint16_t range; /* enum tfs_range_kind */
	uint32_t name;  /* string id */
	uint64_t start_ticks;
	float duration_ticks;
	uint32_t tid;    /* of the thread that closed it */
	uint32_t domain; /* string id, 0 = the default domain */
	uint16_t level;  /* pushed ranges of its domain that it lies in */
	uint16_t reserved0;
};

TFS_SIZE_IS(struct tfs_step_record, 32);
TFS_SIZE_IS(struct tfs_steps_record, 32);
TFS_SIZE_IS(struct tfs_window_record, 32);
TFS_SIZE_IS(struct tfs_range_record, 32);

#endif
