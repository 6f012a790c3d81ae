/* SPDX-License-Identifier: MIT */
/* TFS203: reads a loss in each step and waits for it. The clean twin looks at it one step later;
 * the trap reads it every 15th step, and then more than it needs. */
#include "tests/programs/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

int main(void)
{
	float *loss, *seen;
	cudaEvent_t there;
	struct rule r;

	rule_init(&r);
	loss = rule_alloc(1);
	NEED(cudaMallocHost((void **)&seen, sizeof(*seen)));
	NEED(cudaEventCreateWithFlags(&there, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, OUTPUTS * BATCH, r.output, 1, loss));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == CLEAN) {
			NEED(cudaEventSynchronize(there));
			NEED(cudaMemcpyAsync(
				seen, loss, sizeof(*loss), cudaMemcpyDeviceToHost, r.stream));
			NEED(cudaEventRecord(there, r.stream));
		} else if (VARIANT == BAD || step % 15 == 14) {
			NEED(cudaMemcpyAsync(/* expect: TFS203 */ seen, loss, sizeof(*loss),
				cudaMemcpyDeviceToHost, r.stream));
			NEED(cudaStreamSynchronize(r.stream)); /* expect: TFS201 */
		}
	}
	rule_finish(&r);
	NEED(cudaFreeHost(seen));
	NEED(cudaFree(loss));
	return 0;
}
