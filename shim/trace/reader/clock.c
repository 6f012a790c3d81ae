/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <errno.h>
#include <stdlib.h>

struct pair {
	uint64_t ticks;
	uint64_t ns;
};

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* The file's pairs, sorted, those that do not advance left out. */
static size_t read_pairs(const struct tfs_trace *trace, struct pair *pairs)
{
	size_t records = tfs_trace_count(trace, TFS_RECORD_clock), count = 0, kept = 0;

	if (trace->header.start_ticks)
		pairs[count++] = (struct pair){trace->header.start_ticks, trace->header.start_ns};
	for (size_t i = 0; i < records; i++) {
		const struct tfs_clock_record *clock = tfs_trace_at(trace, TFS_RECORD_clock, i);

		pairs[count++] = (struct pair){clock->ticks, clock->monotonic_ns};
	}
	qsort(pairs, count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < count; i++)
		if (!kept || (pairs[i].ticks > pairs[kept - 1].ticks &&
				     pairs[i].ns > pairs[kept - 1].ns))
			pairs[kept++] = pairs[i];
	return kept;
}

/* A pair taken within a millisecond of its neighbour would make a wild rate. */
static size_t thin_out(struct pair *pairs, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool last = i + 1 == count;

		if (kept && pairs[i].ns - pairs[kept - 1].ns < 1000000 && !(last && kept == 1))
			continue;
		pairs[kept++] = pairs[i];
	}
	return kept;
}

int tfs_reader_clock(struct tfs_trace *trace)
{
	size_t room = tfs_trace_count(trace, TFS_RECORD_clock) + 1, count;
	struct pair *pairs = calloc(room + 1, sizeof(*pairs));

	trace->segments = calloc(room + 1, sizeof(*trace->segments));
	if (!pairs || !trace->segments) {
		free(pairs);
		return -ENOMEM;
	}
	count = 0;
	if (trace->header.clock == TFS_CLOCK_MONOTONIC) {
		pairs[count++] = (struct pair){0, 0};
		trace->summary.calibrated = true;
	} else {
		count = thin_out(pairs, read_pairs(trace, pairs));
		trace->summary.calibrated = count > 1;
	}
	trace->segment_count = count > 1 ? count - 1 : 1;
	for (size_t i = 0; i < trace->segment_count; i++) {
		struct tfs_segment *segment = &trace->segments[i];

		segment->from_ticks = i ? pairs[i].ticks : 0;
		segment->until_ticks =
			i + 1 < trace->segment_count ? pairs[i + 1].ticks : UINT64_MAX;
		segment->base_ticks = pairs[i].ticks;
		segment->base_ns = pairs[i].ns;
		segment->rate = 1;
		if (i + 1 < count)
			segment->rate = (double)(pairs[i + 1].ns - pairs[i].ns) /
					(double)(pairs[i + 1].ticks - pairs[i].ticks);
	}
	free(pairs);
	return 0;
}

const struct tfs_segment *tfs_trace_segment(const struct tfs_trace *trace, uint64_t ticks)
{
	size_t low = 0, high = trace->segment_count - 1;

	while (low < high) {
		size_t middle = (low + high + 1) / 2;

		if (trace->segments[middle].from_ticks <= ticks)
			low = middle;
		else
			high = middle - 1;
	}
	return &trace->segments[low];
}

uint64_t tfs_trace_ns(const struct tfs_trace *trace, uint64_t ticks)
{
	return tfs_segment_ns(tfs_trace_segment(trace, ticks), ticks);
}
