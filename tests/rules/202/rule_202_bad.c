/* SPDX-License-Identifier: MIT */
/* TFS202: a norm that cuBLAS returns to the host in each step. The clean twin keeps it on the
 * device; so does the trap, which also copies on the device and zeroes, in calls without Async. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

int main(void)
{
	float norm, *norms;
	struct rule r;

	rule_init(&r);
	norms = rule_alloc(2 * STEPS);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == BAD) {
			/* expect: TFS202 x1 stream 13 1.84..2.24ms */
			NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, &norm));
			rule_see(&norm, 1);
			continue;
		}
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(/* trap: TFS202 */ r.blas, WEIGHTS, r.grad, 1, norms + step));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		if (VARIANT == CLEAN)
			continue;
		NEED(cudaMemcpy(r.output, r.grad, BATCH * sizeof(float), cudaMemcpyDeviceToDevice));
		NEED(cudaMemset(norms + STEPS + step, 0, sizeof(float)));
	}
	if (VARIANT != BAD)
		rule_tell(norms, STEPS);
	rule_finish(&r);
	NEED(cudaFree(norms));
	return 0;
}
