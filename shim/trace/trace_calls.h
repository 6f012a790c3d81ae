/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_TRACE_CALLS_H
#define TFS_SHIM_TRACE_TRACE_CALLS_H

/*
 * The second half of trace.h: threads and their calls, aggregates, time. Include trace.h.
 */

#include <stdbool.h>
#include <stddef.h>

#include "shim/trace/format/format.h"

struct tfs_trace;

/* A stretch of ticks with one rate. */
struct tfs_segment {
	uint64_t from_ticks;
	uint64_t until_ticks; /* exclusive */
	uint64_t base_ticks;
	uint64_t base_ns;
	double rate; /* nanoseconds per tick */
};

/* The stretch that `ticks` lies in. */
const struct tfs_segment *tfs_trace_segment(const struct tfs_trace *trace, uint64_t ticks);
/* CLOCK_MONOTONIC nanoseconds. */
uint64_t tfs_trace_ns(const struct tfs_trace *trace, uint64_t ticks);

static inline uint64_t tfs_segment_ns(const struct tfs_segment *segment, uint64_t ticks)
{
	if (ticks >= segment->base_ticks) {
		double ns = (double)(ticks - segment->base_ticks) * segment->rate;

		return ns < 9e18 - (double)segment->base_ns ? segment->base_ns + (uint64_t)ns
							    : INT64_MAX;
	} else {
		double ns = (double)(segment->base_ticks - ticks) * segment->rate;

		return ns < (double)segment->base_ns ? segment->base_ns - (uint64_t)ns : 0;
	}
}

/* A duration in ticks; 0 for what is no duration. */
static inline uint64_t tfs_segment_duration(const struct tfs_segment *segment, double ticks)
{
	double ns = ticks * segment->rate;

	return ns > 0 && ns < 4e18 ? (uint64_t)(ns + 0.5) : 0;
}

/* A thread that has a chunk in the file; `record` may be NULL. */
struct tfs_trace_thread {
	uint32_t index; /* its number in the file */
	uint32_t first_chunk;
	uint32_t chunks;
	const struct tfs_thread_record *record;
	uint64_t calls;
};

size_t tfs_trace_threads(
	const struct tfs_trace *trace, const struct tfs_trace_thread **out_threads);

/* Walks one thread's calls in the order they were made. */
struct tfs_cursor {
	const struct tfs_trace *trace;
	const uint8_t *at;
	const uint8_t *end;
	uint32_t chunk;
	uint32_t last_chunk;
};

/* `thread` is a position in the list of threads. */
void tfs_cursor_start(struct tfs_cursor *cursor, const struct tfs_trace *trace, size_t thread);
/* The next call or NULL. */
const struct tfs_call *tfs_cursor_next(struct tfs_cursor *cursor);
/* Where a call lies in the file, in TFS_UNIT; what links name. */
uint32_t tfs_trace_unit(const struct tfs_trace *trace, const struct tfs_call *call);

static inline unsigned tfs_call_items(
	const struct tfs_call *call, const struct tfs_item **out_items)
{
	*out_items = (const struct tfs_item *)(call + 1);
	return (call->record.units - 1u) * 2u;
}

/* An attribute of a call; false = it has none. */
bool tfs_call_attribute(const struct tfs_call *call, enum tfs_attribute key, uint64_t *out_value);

/* One thread's share of a total. */
struct tfs_share {
	uint32_t thread; /* position in the list of threads */
	const struct tfs_aggregate *aggregate;
};

/* Calls of one function from one site, all threads together, sorted by site and function. */
struct tfs_total {
	struct tfs_aggregate sum;
	uint32_t first_share;
	uint32_t shares;
};

/* Calls that were only counted, wherever they were made: without times, and never recorded. */
static inline bool tfs_total_is_count(const struct tfs_aggregate *sum)
{
	return !sum->site && sum->count && !sum->latest_ticks;
}

size_t tfs_trace_totals(const struct tfs_trace *trace, const struct tfs_total **out_totals,
	const struct tfs_share **out_shares);

/* That of a function at a call site, or NULL. */
const struct tfs_total *tfs_trace_total(
	const struct tfs_trace *trace, uint32_t site, uint32_t function);

#endif
