/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The shortest a record of each kind may be; 0 = a kind not known. */
static const uint16_t shortest[TFS_KINDS] = {
	[TFS_RECORD_call] = sizeof(struct tfs_call),
	[TFS_RECORD_string] = sizeof(struct tfs_text_record),
	[TFS_RECORD_function] = sizeof(struct tfs_function_record),
	[TFS_RECORD_site] = sizeof(struct tfs_site_record),
	[TFS_RECORD_module] = sizeof(struct tfs_module_record),
	[TFS_RECORD_thread] = sizeof(struct tfs_thread_record),
	[TFS_RECORD_clock] = sizeof(struct tfs_clock_record),
	[TFS_RECORD_stream] = sizeof(struct tfs_stream_record),
	[TFS_RECORD_problem] = sizeof(struct tfs_problem_record),
	[TFS_RECORD_kernel] = sizeof(struct tfs_text_record),
	[TFS_RECORD_device] = sizeof(struct tfs_device_record),
	[TFS_RECORD_library] = sizeof(struct tfs_library_record),
	[TFS_RECORD_fact] = sizeof(struct tfs_fact_record),
	[TFS_RECORD_step] = sizeof(struct tfs_step_record),
	[TFS_RECORD_steps] = sizeof(struct tfs_steps_record),
	[TFS_RECORD_window] = sizeof(struct tfs_window_record),
	[TFS_RECORD_device_op] = sizeof(struct tfs_device_op_record),
	[TFS_RECORD_link] = sizeof(struct tfs_link_record),
	[TFS_RECORD_device_sync] = sizeof(struct tfs_device_sync_record),
	[TFS_RECORD_device_api] = sizeof(struct tfs_device_api_record),
	[TFS_RECORD_rewrite] = sizeof(struct tfs_rewrite_record),
	[TFS_RECORD_refusal] = sizeof(struct tfs_refusal_record),
	[TFS_RECORD_search] = sizeof(struct tfs_search_record),
	[TFS_RECORD_overhead] = sizeof(struct tfs_overhead_record),
	[TFS_RECORD_range] = sizeof(struct tfs_range_record),
	[TFS_RECORD_api] = sizeof(struct tfs_api_record),
	[TFS_RECORD_device_memory] = sizeof(struct tfs_device_memory_record),
	[TFS_RECORD_host] = sizeof(struct tfs_host_record),
	[TFS_RECORD_host_code] = sizeof(struct tfs_host_code_record),
	[TFS_RECORD_host_others] = sizeof(struct tfs_host_others_record),
	[TFS_RECORD_product] = sizeof(struct tfs_product_record),
};

/* Whether what follows the head lies within the record: text ends, arrays fit. */
static bool tail_fits(const struct tfs_record *record, size_t bytes)
{
	const char *base = (const char *)record;
	const size_t head = shortest[record->kind];
	const void *whole = record;
	unsigned count;

	switch (record->kind) {
	case TFS_RECORD_string:
	case TFS_RECORD_kernel:
	case TFS_RECORD_function:
		return memchr(base + head, 0, bytes - head) != NULL;
	case TFS_RECORD_thread:
		return memchr(((const struct tfs_thread_record *)whole)->name, 0,
			       sizeof(((const struct tfs_thread_record *)whole)->name)) != NULL;
	case TFS_RECORD_site:
		count = ((const struct tfs_site_record *)whole)->frames;
		return count <= TFS_MAX_FRAMES && count * sizeof(uint64_t) <= bytes - head;
	case TFS_RECORD_problem:
		count = ((const struct tfs_problem_record *)whole)->fields;
		return count * sizeof(int32_t) <= bytes - head;
	case TFS_RECORD_steps:
		count = ((const struct tfs_steps_record *)whole)->count;
		return count * sizeof(float) <= bytes - head;
	default:
		return true;
	}
}

static int units_add(struct tfs_units *units, uint32_t unit)
{
	if (units->count == units->room) {
		size_t room = units->room ? units->room * 2 : 64;
		uint32_t *grown = realloc(units->units, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		units->units = grown;
		units->room = room;
	}
	units->units[units->count++] = unit;
	return 0;
}

/* A record that is no plain call. */
static int index_other(struct tfs_trace *trace, const struct tfs_record *record, uint64_t offset)
{
	size_t bytes = record->units * (size_t)TFS_UNIT;

	if (record->kind >= TFS_KINDS || !shortest[record->kind]) {
		trace->summary.unknown++;
		return 0;
	}
	if (bytes < shortest[record->kind] || !tail_fits(record, bytes)) {
		tfs_reader_damage(trace, offset, "a record is shorter than its contents");
		return 0;
	}
	return units_add(&trace->kinds[record->kind], (uint32_t)(offset / TFS_UNIT));
}

static int index_records(struct tfs_trace *trace, struct tfs_reader_chunk *chunk)
{
	uint64_t at = chunk->begin, records = 0, calls = 0, items = 0;
	int err = 0;

	while (at < chunk->end && !err) {
		const struct tfs_record *record = (const void *)(trace->bytes + at);
		uint64_t bytes = record->units * (uint64_t)TFS_UNIT;

		/* The record that a killed thread was writing. */
		if (bytes == 0 && !trace->header.finished && chunk->end - at == TFS_UNIT) {
			chunk->end = at;
			break;
		}
		if (bytes == 0 || bytes > chunk->end - at) {
			tfs_reader_damage(trace, at, "a record's length is wrong");
			chunk->end = at;
			break;
		}
		if (record->kind == TFS_RECORD_call) {
			calls++;
			items += (record->units - 1u) * 2u;
		} else {
			err = index_other(trace, record, at);
		}
		records++;
		at += bytes;
	}
	chunk->calls = calls;
	trace->summary.records += records;
	trace->summary.calls += calls;
	trace->summary.operands += items;
	return err;
}

/* Cuts a chunk to its whole payload; false = it holds nothing. */
static bool chunk_extent(struct tfs_trace *trace, uint64_t offset, struct tfs_reader_chunk *out)
{
	const struct tfs_chunk *head = (const void *)(trace->bytes + offset);
	uint64_t unit =
		head->kind == TFS_CHUNK_AGGREGATES ? sizeof(struct tfs_aggregate) : TFS_UNIT;
	uint64_t committed, there = trace->size - offset - sizeof(*head);

	if (head->kind != TFS_CHUNK_RECORDS && head->kind != TFS_CHUNK_AGGREGATES) {
		trace->summary.unknown++;
		return false;
	}
	/* the writer may be alive: what it commits after this load is not looked at */
	committed = __atomic_load_n(&head->committed, __ATOMIC_ACQUIRE);
	if (committed > head->bytes - sizeof(*head)) {
		tfs_reader_damage(trace, offset, "a chunk's contents are longer than the chunk");
		committed = head->bytes - sizeof(*head);
	}
	if (committed > there) {
		tfs_reader_damage(trace, trace->size, "the file ends inside a chunk");
		trace->summary.cut = true;
		committed = there;
	}
	*out = (struct tfs_reader_chunk){.begin = offset + sizeof(*head),
		.end = offset + sizeof(*head) + committed / unit * unit,
		.thread = head->thread,
		.sequence = head->sequence,
		.kind = head->kind};
	return true;
}

/* Zeroes, or the beginning of a head and zeroes, where the disk took no more: there is no payload
 * before its head is whole. */
static bool is_unwritten(const struct tfs_chunk *head, uint64_t offset)
{
	const struct tfs_chunk begun = {.magic = TFS_CHUNK_MAGIC,
		.kind = head->kind,
		.thread = head->thread,
		.sequence = head->sequence,
		.offset = offset};
	size_t bytes = sizeof(*head);

	while (bytes > 0 && ((const char *)head)[bytes - 1] == 0)
		bytes--;
	return memcmp(head, &begun, bytes) == 0;
}

static bool is_head(const struct tfs_trace *trace, const struct tfs_chunk *head, uint64_t offset)
{
	return head->magic == TFS_CHUNK_MAGIC && head->offset == offset &&
	       head->bytes >= sizeof(*head) && head->bytes <= trace->header.chunk_bytes &&
	       head->bytes % TFS_CHUNK_STEP == 0;
}

/* The next chunk's head at or behind `*offset`; NULL at the end. */
static const struct tfs_chunk *next_head(struct tfs_trace *trace, uint64_t *offset)
{
	bool told = false;

	for (; *offset + sizeof(struct tfs_chunk) <= trace->size; *offset += TFS_CHUNK_STEP) {
		const struct tfs_chunk *head = (const void *)(trace->bytes + *offset);

		if (is_head(trace, head, *offset))
			return head;
		if (!told && !is_unwritten(head, *offset)) {
			tfs_reader_damage(trace, *offset, "not a chunk");
			told = true;
		}
	}
	return NULL;
}

static int add_chunk(struct tfs_trace *trace, const struct tfs_reader_chunk *chunk)
{
	uint32_t count = trace->chunk_count;

	/* there is room for one at first, and it grows whenever it is a power of two long */
	if (count && (count & (count - 1)) == 0) {
		size_t room = count * (size_t)2;
		struct tfs_reader_chunk *grown =
			realloc(trace->chunks, room * sizeof(*trace->chunks));

		if (!grown)
			return -ENOMEM;
		trace->chunks = grown;
	}
	trace->chunks[trace->chunk_count++] = *chunk;
	return 0;
}

int tfs_reader_index(struct tfs_trace *trace)
{
	uint64_t offset = trace->header.header_bytes, heads = 0;
	const struct tfs_chunk *head;

	trace->chunks = malloc(sizeof(*trace->chunks));
	if (!trace->chunks)
		return -ENOMEM;
	while ((head = next_head(trace, &offset))) {
		struct tfs_reader_chunk chunk;
		bool holds = chunk_extent(trace, offset, &chunk);
		int err =
			holds && chunk.kind == TFS_CHUNK_RECORDS ? index_records(trace, &chunk) : 0;

		if (!err && holds)
			err = add_chunk(trace, &chunk);
		if (err)
			return err;
		offset += head->bytes;
		heads++;
	}
	/* Whole chunks are missing at the end. */
	if (trace->header.finished && heads < trace->header.chunks_taken)
		trace->summary.cut = true;
	return 0;
}
