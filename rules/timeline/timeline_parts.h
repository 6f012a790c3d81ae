/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_TIMELINE_PARTS_H
#define TFS_RULES_TIMELINE_TIMELINE_PARTS_H

/*
 * What the arrays of a timeline hold; timeline.h says how they hang together.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

#define TFS_NONE UINT32_MAX

/* A stretch in which calls (flag 1) and device activity (flag 2) were recorded in full. */
struct tfs_window {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t number;
	uint32_t flags; /* as in tfs_window_record */
};

/* A step whose start and end are known. */
struct tfs_step {
	uint64_t index;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t phase;  /* enum tfs_phase */
	uint32_t flags;  /* as in tfs_step_record: 1 = a rewrite was on */
	uint32_t window; /* index of the window it lies in whole, or TFS_NONE */
	uint32_t site;   /* call site that opens it */
	bool left;       /* something else than a training step came next */
};

struct tfs_host_call {
	const struct tfs_call *record;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;   /* index of its thread */
	uint32_t step;     /* index of the step it starts in */
	uint32_t first_op; /* device operations it caused: call_ops[first_op ...] */
	uint32_t op_count;
	uint32_t first_operand; /* see tfs_operand_next() */
	uint16_t function;
	uint16_t family; /* enum tfs_family */
};

struct tfs_host_thread {
	const char *name; /* "" = unknown */
	uint32_t tid;
	uint32_t first_call; /* its calls, in time order: calls[first_call ...] */
	uint32_t call_count;
};

struct tfs_device_op {
	const struct tfs_device_op_record *record; /* function: enum tfs_device_op_kind */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t call;   /* the wrapped call it was caused by */
	uint32_t step;   /* the step of that call; without one, the step it starts in */
	uint32_t stream; /* index of its stream */
};

struct tfs_stream {
	uint32_t device;
	uint32_t cupti_id; /* the stream's number in device records */
	uint16_t id;       /* the stream's number in calls, or TFS_NO_STREAM where not known */
	uint16_t flags;    /* as in tfs_stream_record */
	uint32_t first_op; /* its operations, by start: ops[first_op ...] */
	uint32_t op_count;
};

/* Host waits that CUPTI saw. */
struct tfs_device_sync {
	const struct tfs_device_sync_record *record;
	uint32_t call;
	uint32_t step;
};

/* Memory between its allocation (or registration) and its release. */
struct tfs_allocation {
	uint64_t address;
	uint64_t bytes;
	uint64_t from_ns;
	uint64_t until_ns; /* UINT64_MAX = never released */
	uint32_t alloc_call;
	uint32_t free_call;
	uint32_t site;   /* of the allocation */
	uint32_t memory; /* enum tfs_memory_kind */
};

/* Why a device had nothing to do. */
enum tfs_idle_why {
	TFS_IDLE_UNKNOWN = 0, /* the work that ends it has no known call */
	TFS_IDLE_QUEUED =
		1, /* that work was launched in time: latency, or it waited for other work */
	TFS_IDLE_DRAINED = 2, /* `call` waited for the device and let it run dry */
	TFS_IDLE_CALL = 3,    /* the host spent most of it inside `call` */
	TFS_IDLE_HOST = 4     /* the host was in its own code, mostly behind `call` */
};

struct tfs_idle {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device;
	uint32_t why;
	uint32_t call;    /* the call that explains it */
	uint32_t next_op; /* the operation that ends it */
	uint32_t step;    /* the step of that operation */
};

struct tfs_device {
	uint32_t number;
	const struct tfs_device_record *record; /* may be NULL */
	uint64_t busy_ns;                       /* union of its operations */
	uint64_t lost;                          /* operations without times */
	uint32_t first_idle;
	uint32_t idle_count;
};

/* Durations of training steps. */
struct tfs_step_times {
	uint64_t count;
	double median_ns;
	double median_low_ns; /* an interval of the median, see recording_cost.h */
	double median_high_ns;
	double p95_ns;
	double mean_ns;
	double trimmed_ns; /* the mean without the tenth at either end */
};

/* A decoded memory operand of a call. */
struct tfs_operand {
	uint64_t address;
	uint64_t bytes;  /* 0 = unknown */
	uint32_t range;  /* index of the range it lies in, or TFS_NONE */
	uint32_t memory; /* enum tfs_memory_kind: as recorded, else that of the range */
	uint32_t role;   /* TFS_ROLE_READ, _WRITE, _MAYBE, _SCRATCH */
};

#endif
