/* SPDX-License-Identifier: MIT */
/* TFS401: a temporary allocated and released in each step. The clean twin allocates it once; the
 * trap takes it from a pool that keeps its memory. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void train(struct rule *r)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	float *temporary = VARIANT == CLEAN ? rule_alloc(WEIGHTS) : NULL;

	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(r, step);
		rule_forward(r, step);
		if (VARIANT == BAD)
			/* expect: TFS401 x1 256KiB 0us */
			NEED(cudaMalloc((void **)&temporary, bytes));
		if (VARIANT == TRAP)
			NEED(cudaMallocAsync((void **)&temporary, bytes, r->stream));
		rule_backward(r, step, 0);
		NEED(cublasScopy(r->blas, WEIGHTS, r->grad, 1, temporary, 1));
		rule_update(r);
		if (VARIANT == BAD)
			/* expect: TFS202 x1 256KiB 1.85..2.4ms */
			/* expect: TFS401 x1 256KiB 1.85..2.4ms */
			NEED(cudaFree(temporary));
		if (VARIANT == TRAP)
			NEED(cudaFreeAsync(temporary, r->stream));
	}
	if (VARIANT == CLEAN)
		NEED(cudaFree(temporary));
}

int main(void)
{
	unsigned long long keep = ~0ull;
	cudaMemPool_t pool;
	struct rule r;

	rule_init(&r);
	NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
	NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	train(&r);
	rule_finish(&r);
	return 0;
}
