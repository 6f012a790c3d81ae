/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_RESERVE_H
#define TFS_TESTS_PROGRAMS_REWRITE_RESERVE_H

/* What the programs share that take stream-ordered memory in every step. */

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"
#include "tests/tools/unseen_symbol.h"

#define MIB ((size_t)1 << 20)
#define BYTES (2 * MIB)
#define ROUNDS 24

static cudaStream_t stream;

static inline void *past_tfshim(const char *name)
{
	void *function = unseen_symbol("libcudart.so.13", name);

	TEST_NEED(function);
	return function;
}

/* A temporary of each step, from a pool or from the current one. */
static inline void churn_from(cudaMemPool_t pool, size_t bytes, int times)
{
	const size_t used = bytes < MIB ? bytes : MIB;
	char *back = malloc(used);

	for (int i = 1; i <= times; i++) {
		char *memory = NULL;

		if (pool)
			OK(cudaMallocFromPoolAsync((void **)&memory, bytes, pool, stream));
		else
			OK(cudaMallocAsync((void **)&memory, bytes, stream));
		OK(cudaMemsetAsync(memory, i, used, stream));
		OK(cudaMemcpyAsync(back, memory, used, cudaMemcpyDeviceToHost, stream));
		OK(cudaFreeAsync(memory, stream));
		OK(cudaStreamSynchronize(stream));
		TEST_EQ(wrong_bytes(back, i, used), 0);
	}
	free(back);
}

static inline void churn(size_t bytes, int times)
{
	churn_from(NULL, bytes, times);
}

static inline cudaMemPool_t make_pool(enum cudaMemAllocationHandleType shared)
{
	const struct cudaMemPoolProps like = {.allocType = cudaMemAllocationTypePinned,
		.handleTypes = shared,
		.location = {.type = cudaMemLocationTypeDevice, .id = 0}};
	cudaMemPool_t pool = NULL;

	OK(cudaMemPoolCreate(&pool, &like));
	return pool;
}

#endif
