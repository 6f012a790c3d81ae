/* SPDX-License-Identifier: MIT */
#include "tests/unit/scenes/read_all.h"

#include <string.h>

#include "rules/timeline/flow.h"

static uint64_t sum_bytes(uint64_t sum, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i++)
		sum = sum * 31 + at[i];
	return sum;
}

static uint64_t read_record(
	const struct tfs_trace *trace, uint64_t sum, const struct tfs_record *record)
{
	const uint64_t *addresses = NULL;
	int32_t fields[TFS_PROBLEM_FIELD_COUNT];
	uint16_t narrow;
	uint32_t wide;

	/* What may be an id, and what may not: any number must be taken. */
	memcpy(&narrow, (const char *)record + 2, sizeof(narrow));
	memcpy(&wide, (const char *)record + 4, sizeof(wide));
	const unsigned frames = tfs_trace_frames(trace, wide, &addresses);
	sum = sum_bytes(sum, record, record->units * (size_t)TFS_UNIT);
	sum = sum_bytes(sum, addresses, frames * sizeof(*addresses));
	if (tfs_trace_problem(trace, wide, fields))
		sum = sum_bytes(sum, fields, sizeof(fields));
	sum += strlen(tfs_trace_string(trace, wide));
	sum += strlen(tfs_trace_kernel(trace, wide));
	sum += strlen(tfs_trace_function(trace, narrow));
	sum += (uint64_t)tfs_trace_family(trace, narrow);
	return sum;
}

static uint64_t read_calls(const struct tfs_trace *trace, uint64_t sum)
{
	const struct tfs_trace_thread *threads;
	size_t count = tfs_trace_threads(trace, &threads);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_call *call;
		struct tfs_cursor cursor;

		if (threads[i].record)
			sum += strlen(threads[i].record->name);
		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor))) {
			uint64_t value = 0;

			sum = read_record(trace, sum, &call->record);
			sum += tfs_trace_ns(trace, call->start_ticks);
			sum += tfs_trace_unit(trace, call);
			sum += tfs_call_attribute(call, TFS_ATTRIBUTE_kernel, &value);
			sum += value;
		}
	}
	return sum;
}

uint64_t read_all_trace(const struct tfs_trace *trace)
{
	const struct tfs_share *shares;
	const struct tfs_total *totals;
	const struct tfs_damage *damages;
	uint64_t sum = sum_bytes(0, tfs_trace_header(trace), sizeof(struct tfs_file_header));

	for (int kind = 0; kind < 40; kind++) {
		for (size_t i = 0; i < tfs_trace_count(trace, kind); i++)
			sum = read_record(trace, sum, tfs_trace_at(trace, kind, i));
		for (uint32_t id = 0; id <= tfs_trace_limit(trace, kind); id++)
			sum += tfs_trace_find(trace, kind, id) != NULL;
		if (tfs_trace_at(trace, kind, tfs_trace_count(trace, kind)))
			sum++;
	}
	sum = read_calls(trace, sum);
	for (size_t i = tfs_trace_totals(trace, &totals, &shares); i-- > 0;) {
		sum = sum_bytes(sum, &totals[i].sum, sizeof(totals[i].sum));
		for (uint32_t j = 0; j < totals[i].shares; j++)
			sum += shares[totals[i].first_share + j].aggregate->count;
	}
	for (size_t i = tfs_trace_damages(trace, &damages); i-- > 0;)
		sum += strlen(damages[i].what) + damages[i].offset;
	sum += tfs_trace_module(trace, 0x1000) != NULL;
	sum += tfs_trace_fact(trace, TFS_FACT_steps_found) != NULL;
	return sum;
}

static uint64_t read_call(const struct tfs_timeline *timeline, uint32_t nth)
{
	const struct tfs_host_call *call = &timeline->calls[nth];
	const struct tfs_access *access;
	struct tfs_operand operand;
	unsigned cursor = 0;
	uint64_t sum = call->start_ns + call->end_ns + call->step + call->thread;

	for (uint32_t i = 0; i < call->op_count; i++)
		sum += timeline->ops[timeline->call_ops[call->first_op + i]].start_ns;
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		sum += operand.address + operand.bytes + operand.memory + operand.role;
		if (operand.range != TFS_NONE)
			sum += timeline->ranges[operand.range].address;
		access = tfs_flow_writer(timeline, nth, &operand);
		if (access)
			sum += timeline->calls[access->call].start_ns + access->offset;
		access = tfs_flow_next_use(timeline, nth, &operand);
		if (access)
			sum += timeline->calls[access->call].start_ns + access->bytes;
	}
	return sum;
}

static uint64_t read_device(const struct tfs_timeline *timeline)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < timeline->stream_count; i++)
		for (uint32_t op = 0; op < timeline->streams[i].op_count; op++)
			sum += timeline->ops[timeline->streams[i].first_op + op].end_ns;
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (op->call != TFS_NONE)
			sum += timeline->calls[op->call].start_ns;
		if (op->step != TFS_NONE)
			sum += timeline->steps[op->step].index;
		sum += timeline->streams[op->stream].device + op->record->bytes;
	}
	for (uint32_t i = 0; i < timeline->idle_count; i++) {
		const struct tfs_idle *idle = &timeline->idles[i];

		sum += idle->end_ns - idle->start_ns + timeline->ops[idle->next_op].start_ns;
		if (idle->call != TFS_NONE)
			sum += timeline->calls[idle->call].end_ns;
		if (idle->step != TFS_NONE)
			sum += timeline->steps[idle->step].index;
	}
	for (uint32_t i = 0; i < timeline->sync_count; i++)
		if (timeline->syncs[i].call != TFS_NONE)
			sum += timeline->calls[timeline->syncs[i].call].start_ns;
	for (uint32_t i = 0; i < timeline->device_count; i++)
		sum += timeline->devices[i].busy_ns + timeline->devices[i].idle_count;
	return sum;
}

uint64_t read_all_timeline(const struct tfs_timeline *timeline)
{
	uint64_t sum = timeline->evidence + timeline->training_steps + timeline->warmup_steps;

	for (uint32_t i = 0; i < timeline->call_count; i++)
		sum += read_call(timeline, i);
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tfs_step *step = &timeline->steps[i];

		sum += step->end_ns - step->start_ns;
		if (step->window != TFS_NONE)
			sum += timeline->windows[step->window].number;
		for (uint32_t thread = 0; thread < timeline->thread_count; thread++) {
			const struct tfs_host_call *calls;

			sum += tfs_timeline_step_calls(timeline, i, thread, &calls);
		}
	}
	for (uint32_t i = 0; i < timeline->judged_count; i++)
		sum += timeline->steps[timeline->judged[i]].index;
	for (uint32_t i = 0; i < timeline->range_count; i++) {
		const struct tfs_allocation *range = &timeline->ranges[i];

		sum += range->bytes + timeline->calls[range->alloc_call].start_ns;
		if (range->free_call != TFS_NONE)
			sum += timeline->calls[range->free_call].start_ns;
	}
	return sum + read_device(timeline);
}
