/* SPDX-License-Identifier: MIT */
#include "rules/judge/expenses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/copies.h"
#include "rules/evidence/steady.h"

struct work {
	const struct tfs_timeline *timeline;
	const struct tfs_total *totals; /* sorted by site and function */
	size_t count;
	double *amounts[TFS_EXPENSES]; /* for each total */
	bool *blocks;                  /* likewise */
};

/* Whether such a call is documented to block the host, whatever its operands. */
static bool always_blocks(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_copy:
	case TFS_FAMILY_device_sync:
	case TFS_FAMILY_stream_sync:
	case TFS_FAMILY_event_sync:
	case TFS_FAMILY_alloc:
	case TFS_FAMILY_free:
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_free:
	case TFS_FAMILY_host_register:
	case TFS_FAMILY_host_unregister:
	case TFS_FAMILY_module:
	case TFS_FAMILY_reset:
		return true;
	default:
		return false;
	}
}

static bool moves_bytes(enum tfs_family family)
{
	return family == TFS_FAMILY_copy || family == TFS_FAMILY_copy_async ||
	       family == TFS_FAMILY_set || family == TFS_FAMILY_set_async;
}

/* The total that a call is part of, as an index; `count` where it is in none. */
static size_t total_of(const struct work *work, const struct tfs_host_call *call)
{
	const struct tfs_total *total =
		tfs_trace_total(work->timeline->trace, call->record->site, call->function);

	return total ? (size_t)(total - work->totals) : work->count;
}

/* A copy of pageable memory blocks though its name ends in Async, which only records show. */
static void find_pageable(struct work *work)
{
	const struct tfs_timeline *timeline = work->timeline;
	struct tfs_copy copy;

	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		size_t at;

		if (call->family != TFS_FAMILY_copy_async ||
			!tfs_copy_describe(timeline, call, &copy) ||
			copy.host_memory != TFS_MEMORY_PAGEABLE)
			continue;
		at = total_of(work, call);
		if (at < work->count)
			work->blocks[at] = true;
	}
}

static void add_totals(struct work *work)
{
	const struct tfs_trace *trace = work->timeline->trace;

	for (size_t i = 0; i < work->count; i++) {
		const struct tfs_aggregate *sum = &work->totals[i].sum;
		const enum tfs_family family =
			(enum tfs_family)tfs_trace_family(trace, sum->function);

		if (work->blocks[i] || always_blocks(family))
			work->amounts[TFS_EXPENSE_BLOCKED][i] = (double)tfs_segment_duration(
				tfs_trace_segment(trace, sum->first_ticks), (double)sum->ticks);
		if (moves_bytes(family))
			work->amounts[TFS_EXPENSE_BYTES][i] = (double)sum->amount;
	}
}

static void add_device(struct work *work, double *out_unowned)
{
	const struct tfs_timeline *timeline = work->timeline;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];
		const size_t at = op->call == TFS_NONE ? work->count
						       : total_of(work, &timeline->calls[op->call]);

		if (at < work->count)
			work->amounts[TFS_EXPENSE_DEVICE][at] += tfs_device_op_ns(op);
		else
			*out_unowned += tfs_device_op_ns(op);
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* From the start of the recording to the last thing in it. */
static double run_ns(const struct work *work)
{
	const struct tfs_timeline *timeline = work->timeline;
	const struct tfs_trace *trace = timeline->trace;
	const uint64_t start = tfs_trace_header(trace)->start_ns;
	uint64_t end = start;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_clock); i++) {
		const struct tfs_clock_record *clock = tfs_trace_at(trace, TFS_RECORD_clock, i);

		end = later(end, clock->monotonic_ns);
	}
	for (size_t i = 0; i < work->count; i++)
		if (work->totals[i].sum.latest_ticks)
			end = later(end, tfs_trace_ns(trace, work->totals[i].sum.latest_ticks));
	for (uint32_t i = 0; i < timeline->call_count; i++)
		end = later(end, timeline->calls[i].end_ns);
	return (double)(end - start);
}

static int by_amount(const void *a, const void *b)
{
	const struct tfs_expense *x = a, *y = b;

	if (x->amount != y->amount)
		return x->amount > y->amount ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static int make_list(const struct work *work, const double *amounts, struct tfs_arena *arena,
	struct tfs_expenses *out_list)
{
	out_list->items = tfs_arena_alloc(arena, work->count, sizeof(*out_list->items));
	if (!out_list->items)
		return -ENOMEM;
	for (size_t i = 0; i < work->count; i++) {
		const struct tfs_aggregate *sum = &work->totals[i].sum;

		if (amounts[i] > 0)
			out_list->items[out_list->count++] = (struct tfs_expense){
				sum->site, sum->function, sum->count, amounts[i]};
	}
	if (out_list->count)
		qsort(out_list->items, out_list->count, sizeof(*out_list->items), by_amount);
	return 0;
}

int tfs_expenses_find(const struct tfs_timeline *timeline, struct tfs_arena *arena,
	struct tfs_expenses out_expenses[TFS_EXPENSES])
{
	struct work work = {.timeline = timeline};
	struct tfs_expenses lists[TFS_EXPENSES] = {0};
	int err = 0;

	work.count = tfs_trace_totals(timeline->trace, &work.totals, NULL);
	work.blocks = tfs_arena_alloc(arena, work.count, sizeof(*work.blocks));
	for (unsigned i = 0; i < TFS_EXPENSES; i++)
		work.amounts[i] = tfs_arena_alloc(arena, work.count, sizeof(*work.amounts[i]));
	if (arena->failed)
		return -ENOMEM;
	find_pageable(&work);
	add_totals(&work);
	add_device(&work, &lists[TFS_EXPENSE_DEVICE].unowned);
	for (unsigned i = 0; i < TFS_EXPENSES && !err; i++)
		err = make_list(&work, work.amounts[i], arena, &lists[i]);
	if (err)
		return err;
	lists[TFS_EXPENSE_BLOCKED].whole = run_ns(&work);
	lists[TFS_EXPENSE_DEVICE].whole = tfs_timeline_seen_ns(timeline, 2);
	for (size_t i = 0; i < lists[TFS_EXPENSE_BYTES].count; i++)
		lists[TFS_EXPENSE_BYTES].whole += lists[TFS_EXPENSE_BYTES].items[i].amount;
	memcpy(out_expenses, lists, sizeof(lists));
	return 0;
}
