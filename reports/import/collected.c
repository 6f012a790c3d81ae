/* SPDX-License-Identifier: MIT */
#include "reports/import/collected.h"

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
	free(collected->spans);
	free(collected->ranges);
	free(collected->steps);
	free(collected->devices);
	*collected = (struct tfs_collected){0};
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
