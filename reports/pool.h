/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_POOL_H
#define TFS_REPORTS_POOL_H

/*
 * Memory that lives as long as one report and is released at once. Only for the command line
 * program: when there is no memory left, it says so and ends with status 2.
 */

#include <stddef.h>

struct tfs_pool {
	struct tfs_pool_block *blocks;
};

/* Zeroed memory, aligned for anything, owned by the pool. */
void *tfs_pool_alloc(struct tfs_pool *pool, size_t count, size_t size);

/* A copy of `text`, owned by the pool; NULL stays NULL. */
char *tfs_pool_string(struct tfs_pool *pool, const char *text);

/* A formatted string, owned by the pool. */
char *tfs_pool_print(struct tfs_pool *pool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Releases everything; the pool may be used again. */
void tfs_pool_finish(struct tfs_pool *pool);

/* Room for one more in a growing array (malloc'd, doubled); returns the array, never NULL. */
void *tfs_grow(void *array, size_t count, size_t size);

#endif
