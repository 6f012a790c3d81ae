/* SPDX-License-Identifier: MIT */
/* TFS405: each step keeps a copy of its results on the device, and none is ever freed. The clean
 * twin has one buffer for them; the trap keeps some for 12 steps and then frees them all, from a
 * pool. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { KEPT = 12, FLOATS = 4096 };

static float *keep(struct rule *r, float *one)
{
	float *copy = one;

	if (VARIANT == BAD)
		/* expect: TFS405 x1 16KiB 0us */
		/* expect: TFS401 x1 16KiB 0us */
		NEED(cudaMalloc((void **)&copy, FLOATS * sizeof(float)));
	if (VARIANT == TRAP)
		NEED(cudaMallocAsync((void **)&copy, FLOATS * sizeof(float), r->stream));
	NEED(cublasScopy(r->blas, FLOATS, r->output, 1, copy, 1));
	return copy;
}

static void forget(struct rule *r, float **kept)
{
	for (unsigned i = 0; i < KEPT; i++)
		NEED(cudaFreeAsync(kept[i], r->stream));
}

int main(void)
{
	unsigned long long all = ~0ull;
	float *kept[KEPT], *one;
	cudaMemPool_t pool;
	struct rule r;

	rule_init(&r);
	NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
	NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
	one = rule_alloc(FLOATS);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		kept[step % KEPT] = keep(&r, one);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == TRAP && step % KEPT == KEPT - 1)
			forget(&r, kept);
	}
	rule_finish(&r);
	return 0;
}
