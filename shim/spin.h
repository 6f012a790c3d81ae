/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_SPIN_H
#define TFS_SHIM_SPIN_H

/*
 * A lock for paths that run once per call site, string or thread, held for a few hundred
 * instructions and never across a call that leaves the shim. Not for signal handlers.
 */

#include <sched.h>
#include <stdatomic.h>

struct tfs_spin {
	_Atomic unsigned held;
};

static inline void tfs_spin_lock(struct tfs_spin *lock)
{
	while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) != 0)
		sched_yield();
}

static inline void tfs_spin_unlock(struct tfs_spin *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
