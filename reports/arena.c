/* SPDX-License-Identifier: MIT */
#include "reports/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64u << 10)
#define ALIGNMENT 16u

struct tfs_arena_block {
	struct tfs_arena_block *next;
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

void *tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size)
{
	if (size && count > (SIZE_MAX - BLOCK_BYTES) / size)
		must(NULL);
	size_t bytes = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	struct tfs_arena_block *block = arena->blocks;
	if (!block || block->size - block->used < bytes) {
		size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		block = must(calloc(1, sizeof(*block) + room));
		block->size = room;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	void *memory = block->data + block->used;
	block->used += bytes;
	return memory;
}

char *tfs_arena_string(struct tfs_arena *arena, const char *text)
{
	if (!text)
		return NULL;
	size_t bytes = strlen(text) + 1;
	return memcpy(tfs_arena_alloc(arena, bytes, 1), text, bytes);
}

char *tfs_arena_print(struct tfs_arena *arena, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		must(NULL);
	char *text = tfs_arena_alloc(arena, (size_t)length + 1, 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

void tfs_arena_finish(struct tfs_arena *arena)
{
	while (arena->blocks) {
		struct tfs_arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}

void *tfs_grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return must(realloc(array, (count ? count * 2 : 1) * size));
}
