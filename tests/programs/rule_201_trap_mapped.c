/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: a norm in pinned memory, which the host reads without a copy as soon as the
 * device is done. */
#include "tests/programs/rule_step.h"

int main(void)
{
	float *norm, sum = 0;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocHost((void **)&norm, sizeof(*norm)));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, norm));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		rule_update(&r);
		NEED(cudaStreamSynchronize(r.stream)); /* needed: TFS201 */
		sum += *norm;
	}
	rule_finish(&r);
	NEED(cudaFreeHost(norm));
	printf("%g\n", (double)sum);
	return 0;
}
