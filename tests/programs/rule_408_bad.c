/* SPDX-License-Identifier: MIT */
/* TFS408: a temporary from a pool that gives its memory back whenever the host waits, which it does
 * for the batch before last. In the clean twin the pool keeps its memory; in the trap no wait lies
 * between releasing the temporary and taking it again. */
#include "tests/programs/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void train(struct rule *r)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	float *temporary = NULL;

	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(r, step);
		if (VARIANT == TRAP && temporary)
			NEED(cudaFreeAsync(temporary, r->stream));
		NEED(cudaMallocAsync((void **)&temporary, bytes, r->stream)); /* expect: TFS408 */
		rule_forward(r, step);
		rule_backward(r, step, 0);
		NEED(cublasScopy(r->blas, WEIGHTS, r->grad, 1, temporary, 1));
		rule_update(r);
		if (VARIANT != TRAP)
			NEED(cudaFreeAsync(temporary, r->stream));
	}
}

int main(void)
{
	unsigned long long keep = 64 << 20;
	cudaMemPool_t pool;
	struct rule r;

	rule_init(&r);
	NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
	if (VARIANT == CLEAN)
		NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	train(&r);
	rule_finish(&r);
	return 0;
}
