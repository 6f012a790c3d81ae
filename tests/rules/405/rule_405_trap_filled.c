/* SPDX-License-Identifier: MIT */
/* TFS405, a trap: what is kept grows until there is one for each of 30 batches, and is complete. */
#include "tests/rules/rule_step.h"

enum { BATCHES = 30, FLOATS = 4096 };

int main(void)
{
	unsigned long long all = ~0ull;
	float *kept[BATCHES] = {0};
	cudaMemPool_t pool;
	struct rule r;

	rule_init(&r);
	NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
	NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
	for (unsigned step = 0; step < STEPS; step++) {
		float **copy = &kept[step % BATCHES];

		rule_upload(&r, step);
		rule_forward(&r, step);
		if (!*copy)
			NEED(cudaMallocAsync(
				/* trap: TFS405 */ (void **)copy, FLOATS * sizeof(float),
				r.stream));
		NEED(cublasScopy(r.blas, FLOATS, r.output, 1, *copy, 1));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
