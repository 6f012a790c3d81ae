/* SPDX-License-Identifier: MIT */
#include "rules/support/pool.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct tfs_pool_block {
	struct tfs_pool_block *next;
	max_align_t bytes[];
};

void *tfs_pool_alloc(struct tfs_pool *pool, size_t count, size_t size)
{
	struct tfs_pool_block *block = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX - sizeof(*block))
		block = calloc(1, sizeof(*block) + bytes);
	if (!block) {
		pool->failed = true;
		return NULL;
	}
	block->next = pool->blocks;
	pool->blocks = block;
	return block->bytes;
}

char *tfs_pool_text(struct tfs_pool *pool, const char *format, va_list arguments)
{
	static char nothing[1];
	va_list again;
	char *text;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = length < 0 ? NULL : tfs_pool_alloc(pool, (size_t)length + 1, 1);
	if (!text)
		return nothing;
	vsnprintf(text, (size_t)length + 1, format, arguments);
	return text;
}

char *tfs_pool_print(struct tfs_pool *pool, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = tfs_pool_text(pool, format, arguments);
	va_end(arguments);
	return text;
}

void tfs_pool_finish(struct tfs_pool *pool)
{
	while (pool->blocks) {
		struct tfs_pool_block *next = pool->blocks->next;

		free(pool->blocks);
		pool->blocks = next;
	}
}
