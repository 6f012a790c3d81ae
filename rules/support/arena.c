/* SPDX-License-Identifier: MIT */
#include "rules/support/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct tfs_arena_block {
	struct tfs_arena_block *next;
	max_align_t bytes[];
};

void *tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size)
{
	struct tfs_arena_block *block = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX - sizeof(*block))
		block = calloc(1, sizeof(*block) + bytes);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->next = arena->blocks;
	arena->blocks = block;
	return block->bytes;
}

char *tfs_arena_text(struct tfs_arena *arena, const char *format, va_list arguments)
{
	static char nothing[1];
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

void tfs_arena_finish(struct tfs_arena *arena)
{
	while (arena->blocks) {
		struct tfs_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}
