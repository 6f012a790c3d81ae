/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_SPIN_H
#define TFS_SHIM_BASE_SPIN_H

/*
 * A lock for paths that run once per call site, string or thread, held for a few hundred
 * instructions and never across a call that leaves the shim. Not for signal handlers.
 *
 * Who holds it always comes back: no handler of the program's runs in that thread meanwhile, so
 * that none can end the process from there, jump out of it, or wait for a thread that waits for the
 * lock; nor can the thread be cancelled. So there is no time after which the lock is had all the
 * same: what it guards would be changed by two, one of whom was only kept from running, by SIGSTOP
 * or a debugger.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/clock.h"

struct tfs_spin {
	_Atomic unsigned held;
	bool blocked;
	uint64_t signals; /* of the thread that holds it, to be let in again: the kernel's set */
};

#define TFS_SPIN_PAUSE_NS 50000

/* Not the C library's, which leaves the signal for cancelling a thread alone. */
static inline bool tfs_spin_signals(int how, const uint64_t *set, uint64_t *out_before)
{
	const int saved = errno;
	const bool done = syscall(SYS_rt_sigprocmask, how, set, out_before, sizeof(*set)) == 0;

	errno = saved;
	return done;
}

/* For what is not worth a wait. */
static inline bool tfs_spin_try(struct tfs_spin *lock)
{
	static const uint64_t all = ~UINT64_C(0);
	uint64_t signals = 0;
	const bool blocked = tfs_spin_signals(SIG_BLOCK, &all, &signals);

	if (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) == 0) {
		lock->blocked = blocked;
		lock->signals = signals;
		return true;
	}
	if (blocked)
		tfs_spin_signals(SIG_SETMASK, &signals, NULL);
	return false;
}

/* Asleep, not yielding: the holder may be of a lower priority. */
static inline void tfs_spin_pause(void)
{
	const struct timespec time = {.tv_nsec = TFS_SPIN_PAUSE_NS};
	const int saved = errno;

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
	errno = saved;
}

static inline void tfs_spin_lock(struct tfs_spin *lock)
{
	for (unsigned tries = 0; !tfs_spin_try(lock); tries++)
		if (tries < 16)
			sched_yield();
		else
			tfs_spin_pause();
}

/* For what is held across a call that leaves the shim; false: it was not to be had. */
static inline bool tfs_spin_lock_within(struct tfs_spin *lock, uint64_t ns)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	while (!tfs_spin_try(lock)) {
		if (tfs_clock_ns(CLOCK_MONOTONIC) - start_ns > ns)
			return false;
		tfs_spin_pause();
	}
	return true;
}

static inline void tfs_spin_unlock(struct tfs_spin *lock)
{
	const bool blocked = lock->blocked;
	const uint64_t signals = lock->signals;

	atomic_store_explicit(&lock->held, 0, memory_order_release);
	if (blocked)
		tfs_spin_signals(SIG_SETMASK, &signals, NULL);
}

/* In a child, where who held it is not. */
static inline void tfs_spin_reset(struct tfs_spin *lock)
{
	atomic_store(&lock->held, 0);
}

#endif
