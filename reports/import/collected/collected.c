/* SPDX-License-Identifier: MIT */
#include "reports/import/collected/collected.h"

#include <stdlib.h>
#include <string.h>

void *tfs_collected_more(void *array_pointer, size_t *count, size_t item_bytes)
{
	char *array;

	memcpy(&array, array_pointer, sizeof(array));
	/* it grows by half whenever it is full, which it is at these lengths */
	size_t room = 0;

	for (size_t next = 256; room < *count; next = room + room / 2)
		room = next;
	if (room == *count) {
		room = room ? room + room / 2 : 256;
		array = realloc(array, room * item_bytes);
		if (!array)
			return NULL;
		memcpy(array_pointer, &array, sizeof(array));
	}
	return memset(array + (*count)++ * item_bytes, 0, item_bytes);
}

void tfs_collected_finish(struct tfs_collected *collected)
{
	tfs_texts_finish(&collected->names);
	free(collected->calls);
	free(collected->ops);
	free(collected->syncs);
	free(collected->frames);
	free(collected->spans);
	free(collected->ranges);
	free(collected->families);
	free(collected->steps);
	free(collected->devices);
	free(collected->streams);
	*collected = (struct tfs_collected){0};
}

int tfs_collected_compare_frames(const void *left, const void *right)
{
	const struct tfs_collected_frame *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

const struct tfs_collected_frame *tfs_collected_stack(
	const struct tfs_collected *collected, uint32_t stack, size_t *out_count)
{
	size_t low = 0, high = collected->frame_count, end;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (collected->frames[middle].stack < stack)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < collected->frame_count && collected->frames[end].stack == stack;)
		end++;
	*out_count = end - low;
	return collected->frames + low;
}

int tfs_collected_compare_spans(const void *left, const void *right)
{
	const struct tfs_collected_span *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}
