/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_CLOCK_H
#define TFS_SHIM_BASE_CLOCK_H

/*
 * The recorder's clock: the time stamp counter where the kernel itself keeps time by it (then it
 * is constant and the same on every core), else CLOCK_MONOTONIC in nanoseconds.
 */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "shim/base/likely.h"

extern bool tfs_clock_is_tsc TFS_OWN;

/* Chooses the clock. Once, before the first stamp. */
void tfs_clock_init(void);

static inline uint64_t tfs_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t tfs_clock_ticks(void)
{
#ifdef __x86_64__
	if (__builtin_expect(tfs_clock_is_tsc, 1))
		return __rdtsc();
#endif
	return tfs_clock_ns(CLOCK_MONOTONIC);
}

/* One moment on both clocks, to within what reading them takes, also where the thread is kept from
 * running meanwhile. */
void tfs_clock_pair(uint64_t *out_ticks, uint64_t *out_monotonic_ns);

#endif
