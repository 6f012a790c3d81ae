/* SPDX-License-Identifier: MIT */
/* TFS203: reads a loss in each step and waits for it. The clean twin looks at it one step later;
 * the trap reads it every 15th step, and then more than it needs. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void look(const float *seen, const cudaEvent_t *there, unsigned step)
{
	NEED(cudaEventSynchronize(there[step % 2]));
	rule_see(seen + step % 2, 1);
}

int main(void)
{
	float *loss, *seen;
	cudaEvent_t there[2];
	struct rule r;

	rule_init(&r);
	loss = rule_alloc(1);
	NEED(cudaMallocHost((void **)&seen, 2 * sizeof(*seen)));
	for (int i = 0; i < 2; i++)
		NEED(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, OUTPUTS * BATCH, r.output, 1, loss));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == CLEAN) {
			NEED(cudaMemcpyAsync(seen + step % 2, loss, sizeof(*loss),
				cudaMemcpyDeviceToHost, r.stream));
			NEED(cudaEventRecord(there[step % 2], r.stream));
			if (step > 0)
				look(seen, there, step - 1);
		} else if (VARIANT == BAD || step % 15 == 14) {
			/* expect: TFS203 x1 4B stream 13 1.82..2.34ms */
			NEED(cudaMemcpyAsync(
				seen, loss, sizeof(*loss), cudaMemcpyDeviceToHost, r.stream));
			/* expect: TFS201 x1 stream 13 1.82..2.34ms */
			NEED(cudaStreamSynchronize(r.stream));
			rule_see(seen, 1);
		}
	}
	if (VARIANT == CLEAN)
		look(seen, there, STEPS - 1);
	rule_finish(&r);
	NEED(cudaFreeHost(seen));
	NEED(cudaFree(loss));
	return 0;
}
