/* SPDX-License-Identifier: MIT */
/* TFS202, a trap: the norm that cuBLAS returns to the host is all that keeps the host from filling
 * the only pinned buffer while it is still being copied. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

int main(void)
{
	float norm, *norms;
	struct rule r;

	rule_init(&r);
	norms = rule_alloc(STEPS);
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = VARIANT == ADVICE ? step % SLOTS : 0;

		if (VARIANT == ADVICE)
			NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(r.host[slot]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[slot],
			BATCH_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		if (VARIANT == ADVICE)
			NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT != TRAP) {
			NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
			NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, norms + step));
			NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
			continue;
		}
		/* needed: TFS202 x1 stream 13 */
		NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, &norm));
		rule_see(&norm, 1);
	}
	if (VARIANT != TRAP)
		rule_tell(norms, STEPS);
	rule_finish(&r);
	NEED(cudaFree(norms));
	return 0;
}
