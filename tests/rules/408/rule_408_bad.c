/* SPDX-License-Identifier: MIT */
/* TFS408: a temporary from a pool that gives its memory back whenever the host waits, which it does
 * behind the release, while the device goes on. In the clean twin the pool keeps its memory; in the
 * trap the temporary is taken again right behind its release. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void train(struct rule *r)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	float *temporary = NULL;
	cudaEvent_t used;

	NEED(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(r, step);
		if (VARIANT == TRAP && temporary)
			NEED(cudaFreeAsync(temporary, r->stream));
		/* On which stream is not recorded. */
		/* expect: TFS408 x1 256KiB 12.5..16ms */
		NEED(cudaMallocAsync((void **)&temporary, bytes, r->stream));
		NEED(cublasScopy(r->blas, WEIGHTS, r->weight, 1, temporary, 1));
		if (VARIANT != TRAP)
			NEED(cudaFreeAsync(temporary, r->stream));
		NEED(cudaEventRecord(used, r->stream));
		rule_forward(r, step);
		rule_backward(r, step, 0);
		rule_update(r);
		NEED(cudaEventSynchronize(used));
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
