/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_COMMON_POOL_H
#define TFS_SHIM_REWRITES_COMMON_POOL_H

/*
 * What the rewrites that keep freed blocks of device memory share: which sizes recur, what the
 * program's own calls took, and the checks that a block passes before it may be kept. Any thread,
 * inside a hook.
 */

#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/rewrite.h"

struct tfs_memory_functions;

/* What is known of requests for one number of bytes on one device. */
struct tfs_pool_size {
	uint64_t bytes;
	uint32_t device;
	uint32_t freed;  /* and not asked for again yet */
	uint32_t rounds; /* freed and asked for again */
	uint32_t alloc_timed;
	uint32_t free_timed;
	double alloc_ns; /* of the program's own calls; the least */
	double free_ns;  /* of a free on an idle device */
	double keep_ns;  /* of the latest block that was kept */
};

/* Looks for tools that a pool would blind. */
bool tfs_pool_start(void);

/* Counts the call, once however many rewrites look at it; what is known of its size. */
struct tfs_pool_size tfs_pool_note_alloc(struct tfs_op *op);
struct tfs_pool_size tfs_pool_note_free(struct tfs_op *op);

/* How long something took since `start_ns`. */
void tfs_pool_note_alloc_time(const struct tfs_op *op, uint64_t start_ns);
void tfs_pool_note_free_time(const struct tfs_op *op, uint64_t start_ns);
void tfs_pool_note_keep_time(const struct tfs_op *op, uint64_t start_ns);

/* Is the size one that comes back? */
bool tfs_pool_recurs(const struct tfs_pool_size *size);

/* Do all of the shared checks hold? Gives blocks back when memory is short, and old ones. */
bool tfs_pool_may_keep(const struct tfs_rewrite *self, const struct tfs_memory_functions *use,
	struct tfs_op *op, const struct tfs_pool_size *size);

/* Pinned memory is not kept: says so of the call site. */
void tfs_pool_refuse_pinned(const struct tfs_rewrite *self, const struct tfs_op *op);

#endif
