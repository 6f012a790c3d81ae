/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_MODEL_CHARTS_H
#define TFS_REPORTS_MODEL_MODEL_CHARTS_H

/*
 * The part of the model that is drawn: durations of all steps, what a few chosen steps looked
 * like inside, who kept the GPU idle, the memory in use, and the tree of call sites.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfs_chart_phase {
	TFS_CHART_WARMUP,
	TFS_CHART_TRAINING,
	TFS_CHART_EVALUATION,
	TFS_CHART_OTHER
};

struct tfs_chart_step {
	uint64_t index;
	double start_ns;
	double duration_ns;
	enum tfs_chart_phase phase;
	bool in_window;
	bool rewritten;
};

enum tfs_lane {
	TFS_LANE_HOST,
	TFS_LANE_SYNC,
	TFS_LANE_COMPUTE,
	TFS_LANE_H2D,
	TFS_LANE_D2H,
	TFS_LANE_D2D,
	TFS_LANE_NCCL,
	TFS_LANE_COUNT
};

/* One interval, relative to its step's start. */
struct tfs_chart_span {
	double start_ns;
	double end_ns;
	uint32_t name; /* index into the charts' names */
	uint8_t lane;
};

struct tfs_chart_detail {
	const char *title; /* "median", "worst" ... */
	uint64_t index;
	double duration_ns;
	const struct tfs_chart_span *spans; /* by lane, then start */
	size_t span_count;
};

/* GPU time per judged step by what it was spent on or waited for. */
struct tfs_chart_share {
	const char *name;
	double ns_per_step;
	bool busy;
};

/* A stretch of the run that is recorded in full, since its start. */
struct tfs_chart_window {
	double start_ns;
	double end_ns;
};

/* Device memory in use, of all devices. */
struct tfs_chart_memory {
	const double *parts; /* the run in equal parts: the most bytes in each */
	size_t count;        /* of them; 0 = no allocation was recorded */
	double span_ns;      /* of all parts */
	double most_bytes;
	double most_ns; /* after which they were first in use */
	double last_bytes;
	double device_bytes; /* that the only device has; 0 = several, or not known */
	const struct tfs_chart_window *windows;
	size_t window_count;
};

/* A frame of the program with what was done below it, in the whole run. */
struct tfs_chart_node {
	const char *name;  /* function, or called function at a leaf */
	const char *place; /* file:line, or NULL */
	uint64_t calls;
	uint64_t bytes;
	double host_ns;
	double gpu_ns;      /* NaN = not seen */
	double own_host_ns; /* of the calls made here, not deeper */
	double own_gpu_ns;
	size_t first_child; /* 0 = none; the root is node 0 */
	size_t next;        /* next sibling, 0 = none; costliest first */
	bool is_call;
};

struct tfs_model_charts {
	const struct tfs_chart_step *steps;
	size_t step_count;
	size_t steps_merged; /* each entry stands for so many steps: the longest of them */
	const char *const *names;
	size_t name_count;
	const struct tfs_chart_detail *details;
	size_t detail_count;
	const struct tfs_chart_share *shares;
	size_t share_count;
	struct tfs_chart_memory memory;
	const struct tfs_chart_node *nodes;
	size_t node_count;
};

/* "host calls", "copies to the device" ... */
const char *tfs_lane_title(enum tfs_lane lane);

#endif
