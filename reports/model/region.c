/* SPDX-License-Identifier: MIT */
#include "reports/model/region.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64u << 10)
#define ALIGNMENT 16u

struct tfs_region_block {
	struct tfs_region_block *next;
	size_t used;
	size_t size;
	size_t reserved; /* keeps `data` aligned */
	unsigned char data[];
};

static void *must(void *memory)
{
	if (!memory) {
		fputs("tfshim: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

void *tfs_region_alloc(struct tfs_region *region, size_t count, size_t size)
{
	if (size && count > (SIZE_MAX - BLOCK_BYTES) / size)
		must(NULL);
	size_t bytes = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	struct tfs_region_block *block = region->blocks;
	if (!block || block->size - block->used < bytes) {
		size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		block = must(calloc(1, sizeof(*block) + room));
		block->size = room;
		block->next = region->blocks;
		region->blocks = block;
	}
	void *memory = block->data + block->used;
	block->used += bytes;
	return memory;
}

char *tfs_region_string(struct tfs_region *region, const char *text)
{
	if (!text)
		return NULL;
	size_t bytes = strlen(text) + 1;
	return memcpy(tfs_region_alloc(region, bytes, 1), text, bytes);
}

char *tfs_region_print(struct tfs_region *region, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		must(NULL);
	char *text = tfs_region_alloc(region, (size_t)length + 1, 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

void tfs_region_finish(struct tfs_region *region)
{
	while (region->blocks) {
		struct tfs_region_block *next = region->blocks->next;
		free(region->blocks);
		region->blocks = next;
	}
}

void *tfs_grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return must(realloc(array, (count ? count * 2 : 1) * size));
}
