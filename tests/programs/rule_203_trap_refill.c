/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: the wait for the loss is also what keeps the host from filling the only pinned
 * buffer while it is still being copied: read later, it would no longer do so. */
#include "tests/programs/rule_step.h"

int main(void)
{
	float *loss, *seen, sum = 0;
	struct rule r;

	rule_init(&r);
	loss = rule_alloc(1);
	NEED(cudaMallocHost((void **)&seen, sizeof(*seen)));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_prepare(r.host[0]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[0], BATCH_FLOATS * sizeof(float),
			cudaMemcpyHostToDevice, r.stream));
		rule_forward(&r, step);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, OUTPUTS * BATCH, r.output, 1, loss));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaMemcpyAsync(/* needed: TFS203 */ seen, loss, sizeof(*loss),
			cudaMemcpyDeviceToHost, r.stream));
		NEED(cudaStreamSynchronize(r.stream)); /* needed: TFS201 */
		sum += *seen;
	}
	rule_finish(&r);
	NEED(cudaFreeHost(seen));
	NEED(cudaFree(loss));
	printf("%g\n", (double)sum);
	return 0;
}
