/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_POOL_FUNCTIONS_H
#define TFS_SHIM_REWRITES_MEMORY_POOL_FUNCTIONS_H

/*
 * What rewrites of stream-ordered pools call, beside memory_functions.h: the runtime's own
 * functions or the driver's. Handles of one are handles of the other. Results are 0 or an error.
 * None of them waits. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cudaMemPoolAttr and CUmemPool_attribute have the same numbers. */
enum tfs_pool_attribute { TFS_POOL_THRESHOLD = 4, TFS_POOL_RESERVED = 5 };

struct tfs_pool_functions {
	int (*current)(void **out_pool, int device);
	int (*standard)(void **out_pool, int device); /* the device's default one */
	int (*get)(void *pool, enum tfs_pool_attribute attribute, uint64_t *out_value);
	int (*set)(void *pool, enum tfs_pool_attribute attribute, uint64_t *value);
	int (*trim)(void *pool, size_t keep);
};

/* NULL when functions are missing, or their library may go away. */
const struct tfs_pool_functions *tfs_pool_functions(bool driver);

#endif
