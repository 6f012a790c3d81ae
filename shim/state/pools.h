/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_POOLS_H
#define TFS_SHIM_STATE_POOLS_H

/*
 * What the program did with stream-ordered memory pools: which it made, and how much each is to
 * keep when the host waits. Any thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_pool_known {
	const void *pool; /* cudaMemPool_t, CUmemoryPool: one and the same */
	uint64_t keeps;   /* release threshold, as the program set it */
	bool is_set;      /* it did */
	bool created;     /* by the program, in sight */
	bool shareable;   /* with other processes */
	int device;       /* of one that was created; -1: memory of the host */
	uint32_t number;  /* of those created, from 1: handles are used again */
};

/* The program made a pool, or ends one. */
void tfs_pools_created(const void *pool, int device, bool shareable);
void tfs_pools_destroyed(const void *pool);

/* The program set a pool's release threshold. */
void tfs_pools_set(const void *pool, uint64_t keeps);

/* What is known of a pool; a pool that is not listed is left as zeros, and false. */
bool tfs_pools_find(const void *pool, struct tfs_pool_known *out_known);

/* Are there more pools than were noted? Then of none is it known that the program left it alone. */
bool tfs_pools_full(void);

/* In a forked child. */
void tfs_pools_forget(void);

#endif
