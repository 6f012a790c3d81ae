/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_SPIN_H
#define TFS_SHIM_SPIN_H

/*
 * A lock for paths that run once per call site, string or thread, held for a few hundred
 * instructions and never across a call that leaves the shim. Not for signal handlers.
 */

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/clock.h"

struct tfs_spin {
	_Atomic unsigned held;
};

#define TFS_SPIN_LONGEST_NS UINT64_C(1000000000)

/* A holder that is still at it after a second never comes back: a signal handler interrupted it and
 * ends the process from there. Then the lock is taken all the same. */
static inline void tfs_spin_lock(struct tfs_spin *lock)
{
	uint64_t start_ns = 0;

	while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) != 0) {
		const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);

		if (start_ns == 0)
			start_ns = now_ns;
		if (now_ns - start_ns > TFS_SPIN_LONGEST_NS)
			return;
		sched_yield();
	}
}

/* For what is not worth a wait. */
static inline bool tfs_spin_try(struct tfs_spin *lock)
{
	return atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) == 0;
}

static inline void tfs_spin_unlock(struct tfs_spin *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
