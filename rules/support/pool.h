/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_POOL_H
#define TFS_RULES_SUPPORT_POOL_H

/*
 * Memory that lives as long as one judgement and is released at once. Without memory the pool
 * answers NULL and remembers that it did, so that one check at the end is enough for text.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct tfs_pool_block;

struct tfs_pool {
	struct tfs_pool_block *blocks;
	bool failed;
};

/* Zeroed memory for `count` items of `size` bytes, owned by the pool; NULL without memory. */
void *tfs_pool_alloc(struct tfs_pool *pool, size_t count, size_t size);

/* A formatted text owned by the pool; "" without memory. */
char *tfs_pool_text(struct tfs_pool *pool, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
char *tfs_pool_print(struct tfs_pool *pool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Releases everything. */
void tfs_pool_finish(struct tfs_pool *pool);

#endif
