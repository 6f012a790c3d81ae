/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_POOL_H
#define TFS_TESTS_PROGRAMS_REWRITE_POOL_H

/* What the programs share that allocate and free in every step. */

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"

#define MIB (1u << 20)
#define BYTES (2 * MIB)
#define ROUNDS 24

static cudaStream_t stream;

/* A little work that takes a while. */
static inline void dawdle(void *nothing)
{
	struct timespec start, now;

	(void)nothing;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (
		(now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < 500);
}

/* A temporary, again and again, so that it is kept. */
static inline void churn(size_t bytes, int times)
{
	for (int i = 0; i < times; i++) {
		char *memory;

		OK(cudaMalloc((void **)&memory, bytes));
		OK(cudaMemsetAsync(memory, i, bytes, stream));
		OK(cudaFree(memory));
	}
}

#endif
