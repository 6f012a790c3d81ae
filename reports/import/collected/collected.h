/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_COLLECTED_H
#define TFS_REPORTS_IMPORT_COLLECTED_H

/*
 * What was read of another tool's recording, in no particular order. Times are nanoseconds on the
 * tool's own clock; texts are ids of `names`.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/import/collected/texts.h"

/* A function on a call stack, of which calls may share one. */
struct tfs_collected_frame {
	uint32_t stack;
	uint32_t depth; /* 0 = innermost */
	uint32_t function;
};

/* A call of the CUDA runtime or driver. */
struct tfs_collected_call {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t tid;
	uint32_t name;
	uint32_t correlation;
	uint32_t stack; /* 0 = not known */
	uint32_t site;  /* of the recording that is made; 0 = not known */
};

/* Work of a device; `operation`, `copy_kind` and memory kinds as in tfs_device_op_record. */
struct tfs_collected_op {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t bytes;
	uint32_t name;
	uint32_t correlation;
	uint32_t stream;
	uint16_t device;
	uint8_t operation, copy_kind, source_kind, target_kind;
	uint16_t block[3];
	uint32_t grid[3];
};

/* A wait that the tool explains. */
struct tfs_collected_sync {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t correlation;
	uint32_t stream;          /* 0 = none, or not known */
	uint32_t event;           /* the same */
	uint32_t recorded;        /* correlation id of the call that recorded it; 0 = not known */
	uint32_t recorded_stream; /* on which that was; 0 = not known */
	uint16_t type;            /* CUPTI's number */
	uint16_t device;
};

/* A stretch of a thread that has a name. */
struct tfs_collected_span {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t tid;
	uint32_t function;
	uint32_t place; /* "FILE:LINE" */
	uint32_t stack; /* what called it: "FILE(LINE): FUNCTION;...", innermost first */
};

struct tfs_collected_step {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t index;
};

/* What is known of how a stream was made. */
struct tfs_collected_stream {
	uint32_t stream;
	uint32_t flags; /* as in tfs_stream_record */
};

struct tfs_collected_device {
	uint32_t name, compute, multiprocessors;
	uint64_t memory_bytes;
	uint16_t index;
};

/* Zeroed = empty. */
struct tfs_collected {
	struct tfs_texts names;
	struct tfs_collected_call *calls;
	struct tfs_collected_op *ops;
	struct tfs_collected_sync *syncs;
	struct tfs_collected_frame *frames;
	struct tfs_collected_span *spans; /* call sites are made of them */
	struct tfs_collected_span
		*ranges;    /* those that the program named; call sites without spans */
	uint32_t *families; /* by name: what names a call site; NULL = the name */
	struct tfs_collected_step *steps;
	struct tfs_collected_device *devices;
	struct tfs_collected_stream *streams;
	size_t call_count, op_count, sync_count, span_count, range_count, step_count, device_count;
	size_t stream_count, frame_count;
	char tool[160];
	uint32_t program; /* name of the process */
	int64_t pid;
	uint64_t rank;
	uint64_t base_ns;   /* what the clock's zero is in realtime */
	bool undated;       /* it is not known */
	uint64_t not_taken; /* calls and device work that could not be read */
};

/* Room for one more item behind the `count` there are, zeroed; NULL without memory. */
void *tfs_collected_more(void *array_pointer, size_t *count, size_t item_bytes);
/* The frames of a stack, the innermost first, once all are sorted by it and depth; `*out_count` of
 * them. */
const struct tfs_collected_frame *tfs_collected_stack(
	const struct tfs_collected *collected, uint32_t stack, size_t *out_count);
int tfs_collected_compare_frames(const void *left, const void *right);
/* For qsort: spans of one thread by time, the outer one first. */
int tfs_collected_compare_spans(const void *left, const void *right);
void tfs_collected_finish(struct tfs_collected *collected);

#endif
