/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <errno.h>
#include <stdlib.h>

static int compare_shares(const void *left, const void *right)
{
	const struct tfs_share *a = left, *b = right;

	if (a->aggregate->site != b->aggregate->site)
		return a->aggregate->site < b->aggregate->site ? -1 : 1;
	if (a->aggregate->function != b->aggregate->function)
		return a->aggregate->function < b->aggregate->function ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static size_t collect_shares(struct tfs_trace *trace)
{
	size_t count = 0;

	for (uint32_t i = trace->record_chunks; i < trace->chunk_count; i++) {
		const struct tfs_reader_chunk *chunk = &trace->chunks[i];
		uint32_t thread = (uint32_t)tfs_reader_thread(trace, chunk->thread);

		for (uint64_t at = chunk->begin; at < chunk->end;
			at += sizeof(struct tfs_aggregate)) {
			const struct tfs_aggregate *slot = (const void *)(trace->bytes + at);

			if (slot->count)
				trace->shares[count++] = (struct tfs_share){thread, slot};
		}
	}
	return count;
}

static void add_up(struct tfs_aggregate *sum, const struct tfs_aggregate *slot)
{
	if (!sum->count || (slot->first_ticks && slot->first_ticks < sum->first_ticks))
		sum->first_ticks = slot->first_ticks;
	if (slot->latest_ticks > sum->latest_ticks)
		sum->latest_ticks = slot->latest_ticks;
	if (slot->longest_ticks > sum->longest_ticks)
		sum->longest_ticks = slot->longest_ticks;
	sum->site = slot->site;
	sum->function = slot->function;
	sum->count += slot->count;
	sum->amount += slot->amount;
	sum->ticks += slot->ticks;
	sum->failures += slot->failures;
}

int tfs_reader_totals(struct tfs_trace *trace)
{
	size_t room = 1, count;
	struct tfs_total *total = NULL;

	for (uint32_t i = trace->record_chunks; i < trace->chunk_count; i++)
		room += (trace->chunks[i].end - trace->chunks[i].begin) /
			sizeof(struct tfs_aggregate);
	trace->shares = calloc(room, sizeof(*trace->shares));
	trace->totals = calloc(room, sizeof(*trace->totals));
	if (!trace->shares || !trace->totals)
		return -ENOMEM;
	count = collect_shares(trace);
	qsort(trace->shares, count, sizeof(*trace->shares), compare_shares);
	for (size_t i = 0; i < count; i++) {
		const struct tfs_aggregate *slot = trace->shares[i].aggregate;

		if (!total || total->sum.site != slot->site ||
			total->sum.function != slot->function) {
			total = &trace->totals[trace->total_count++];
			total->first_share = (uint32_t)i;
		}
		total->shares++;
		add_up(&total->sum, slot);
	}
	return 0;
}

size_t tfs_trace_totals(const struct tfs_trace *trace, const struct tfs_total **out_totals,
	const struct tfs_share **out_shares)
{
	*out_totals = trace->totals;
	if (out_shares)
		*out_shares = trace->shares;
	return trace->total_count;
}

const struct tfs_total *tfs_trace_total(
	const struct tfs_trace *trace, uint32_t site, uint32_t function)
{
	size_t low = 0, high = trace->total_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct tfs_aggregate *sum = &trace->totals[middle].sum;

		if (sum->site == site && sum->function == function)
			return &trace->totals[middle];
		if (sum->site < site || (sum->site == site && sum->function < function))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
