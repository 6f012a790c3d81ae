/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: the update is left out where the norm says so. A step later is too late for that
 * decision; it belongs on the device. */
#include "tests/programs/rule_step.h"

int main(void)
{
	float *norm, *seen;
	struct rule r;
	unsigned skipped = 0;

	rule_init(&r);
	norm = rule_alloc(1);
	NEED(cudaMallocHost((void **)&seen, sizeof(*seen)));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, norm));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		/* needed: TFS203 x1 4B stream 13 */
		NEED(cudaMemcpyAsync(seen, norm, sizeof(*norm), cudaMemcpyDeviceToHost, r.stream));
		/* needed: TFS201 x1 stream 13 */
		NEED(cudaStreamSynchronize(r.stream));
		/* As if it overflowed in every fourth step. */
		if (*seen < 1e30f && step % 4 != 3)
			rule_update(&r);
		else
			skipped++;
	}
	rule_finish(&r);
	NEED(cudaFreeHost(seen));
	NEED(cudaFree(norm));
	printf("%u skipped\n", skipped);
	return 0;
}
