/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <errno.h>
#include <stdlib.h>

static int compare_chunks(const void *left, const void *right)
{
	const struct tfs_reader_chunk *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int compare_threads(const void *left, const void *right)
{
	const struct tfs_trace_thread *a = left, *b = right;

	return a->index < b->index ? -1 : a->index > b->index;
}

size_t tfs_reader_thread(const struct tfs_trace *trace, uint32_t index)
{
	struct tfs_trace_thread key = {.index = index};
	const struct tfs_trace_thread *found =
		bsearch(&key, trace->threads, trace->thread_count, sizeof(key), compare_threads);

	return found ? (size_t)(found - trace->threads) : SIZE_MAX;
}

static void list_threads(struct tfs_trace *trace)
{
	size_t count = 0;

	for (uint32_t i = 0; i < trace->chunk_count; i++)
		trace->threads[i].index = trace->chunks[i].thread;
	qsort(trace->threads, trace->chunk_count, sizeof(*trace->threads), compare_threads);
	for (uint32_t i = 0; i < trace->chunk_count; i++)
		if (!count || trace->threads[count - 1].index != trace->threads[i].index)
			trace->threads[count++].index = trace->threads[i].index;
	trace->thread_count = count;
}

int tfs_reader_threads(struct tfs_trace *trace)
{
	qsort(trace->chunks, trace->chunk_count, sizeof(*trace->chunks), compare_chunks);
	trace->threads = calloc(trace->chunk_count + 1u, sizeof(*trace->threads));
	if (!trace->threads)
		return -ENOMEM;
	list_threads(trace);
	for (uint32_t i = 0; i < trace->chunk_count; i++) {
		const struct tfs_reader_chunk *chunk = &trace->chunks[i];
		struct tfs_trace_thread *thread;

		if (chunk->kind != TFS_CHUNK_RECORDS)
			break;
		thread = &trace->threads[tfs_reader_thread(trace, chunk->thread)];
		if (!thread->chunks++)
			thread->first_chunk = i;
		thread->calls += chunk->calls;
		trace->record_chunks = i + 1;
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_thread); i++) {
		const struct tfs_thread_record *record = tfs_trace_at(trace, TFS_RECORD_thread, i);
		size_t thread = tfs_reader_thread(trace, record->index);

		if (thread != SIZE_MAX)
			trace->threads[thread].record = record;
	}
	return 0;
}

size_t tfs_trace_threads(const struct tfs_trace *trace, const struct tfs_trace_thread **out_threads)
{
	*out_threads = trace->threads;
	return trace->thread_count;
}

void tfs_cursor_start(struct tfs_cursor *cursor, const struct tfs_trace *trace, size_t thread)
{
	*cursor = (struct tfs_cursor){.trace = trace};
	if (thread < trace->thread_count) {
		cursor->chunk = trace->threads[thread].first_chunk;
		cursor->last_chunk = cursor->chunk + trace->threads[thread].chunks;
	}
}

const struct tfs_call *tfs_cursor_next(struct tfs_cursor *cursor)
{
	for (;;) {
		while (cursor->at < cursor->end) {
			const struct tfs_record *record = (const void *)cursor->at;

			cursor->at += record->units * (size_t)TFS_UNIT;
			if (record->kind == TFS_RECORD_call)
				return (const struct tfs_call *)record;
		}
		if (cursor->chunk == cursor->last_chunk)
			return NULL;
		cursor->at = cursor->trace->bytes + cursor->trace->chunks[cursor->chunk].begin;
		cursor->end = cursor->trace->bytes + cursor->trace->chunks[cursor->chunk].end;
		cursor->chunk++;
	}
}

uint32_t tfs_trace_unit(const struct tfs_trace *trace, const struct tfs_call *call)
{
	return (uint32_t)((uint64_t)((const uint8_t *)call - trace->bytes) / TFS_UNIT);
}

/* Attributes that are packed into another item. */
static bool packed_attribute(
	const struct tfs_item *item, enum tfs_attribute key, uint64_t *out_value)
{
	const uint64_t one = UINT64_C(1) << 32; /* the size in y */

	if (TFS_ITEM_ROLE(item) != 0) {
		*out_value = TFS_ITEM_COPY_KIND(item);
		return key == TFS_ATTRIBUTE_copy_kind && *out_value != UINT32_MAX;
	}
	if (item->tagged != TFS_ATTRIBUTE_launch)
		return false;
	if (key == TFS_ATTRIBUTE_kernel)
		*out_value = item->value & 0xffff;
	else if (key == TFS_ATTRIBUTE_grid)
		*out_value = (item->value >> 16 & UINT32_MAX) | one;
	else if (key == TFS_ATTRIBUTE_block)
		*out_value = item->value >> 48 | one;
	else
		return false;
	return true;
}

bool tfs_call_attribute(const struct tfs_call *call, enum tfs_attribute key, uint64_t *out_value)
{
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call, &items);
	uint64_t packed;

	for (unsigned i = 0; i < count; i++) {
		if (items[i].tagged == (uint64_t)key) {
			*out_value = items[i].value;
			return true;
		}
		if (packed_attribute(&items[i], key, &packed)) {
			*out_value = packed;
			return true;
		}
	}
	return false;
}
