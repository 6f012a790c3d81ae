/* SPDX-License-Identifier: MIT */
#include "rules/support/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64u << 10)

struct tfs_arena_block {
	struct tfs_arena_block *next;
	size_t used;
	size_t size;
	max_align_t bytes[];
};

static char nothing[1];

static struct tfs_arena_block *add_block(struct tfs_arena *arena, size_t bytes)
{
	const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct tfs_arena_block *block = calloc(1, sizeof(*block) + size);

	if (!block)
		return NULL;
	block->size = size;
	block->next = arena->blocks;
	return arena->blocks = block;
}

void *tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size)
{
	const size_t unit = sizeof(max_align_t);
	struct tfs_arena_block *block = arena->blocks;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
		arena->failed = true;
		return NULL;
	}
	bytes = (bytes + unit - 1) / unit * unit;
	if (!block || block->size - block->used < bytes)
		block = add_block(arena, bytes);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->used += bytes;
	return (char *)block->bytes + block->used - bytes;
}

void *tfs_arena_grow(struct tfs_arena *arena, void *array, size_t count, size_t size)
{
	void *grown;

	if (count & (count - 1))
		return array;
	grown = tfs_arena_alloc(arena, count ? count * 2 : 1, size);
	if (grown && count)
		memcpy(grown, array, count * size);
	return grown;
}

char *tfs_arena_string(struct tfs_arena *arena, const char *text)
{
	if (!text)
		return NULL;

	const size_t bytes = strlen(text) + 1;
	char *copy = tfs_arena_alloc(arena, bytes, 1);

	return copy ? memcpy(copy, text, bytes) : nothing;
}

char *tfs_arena_text(struct tfs_arena *arena, const char *format, va_list arguments)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = length < 0 ? NULL : tfs_arena_alloc(arena, (size_t)length + 1, 1);
	if (!text)
		return nothing;
	vsnprintf(text, (size_t)length + 1, format, arguments);
	return text;
}

char *tfs_arena_print(struct tfs_arena *arena, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = tfs_arena_text(arena, format, arguments);
	va_end(arguments);
	return text;
}

int tfs_arena_finish(struct tfs_arena *arena)
{
	const bool failed = arena->failed;

	while (arena->blocks) {
		struct tfs_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->failed = false;
	return failed ? -ENOMEM : 0;
}
