/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: a norm in pinned memory, which the host reads without a copy as soon as the
 * device is done. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

/* The step before has the other number. */
static void look(const float *norm, const cudaEvent_t *there, unsigned step)
{
	NEED(cudaEventSynchronize(there[step % 2]));
	rule_see(norm + step % 2, 1);
}

int main(void)
{
	cudaEvent_t there[2];
	float *norm;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocHost((void **)&norm, 2 * sizeof(*norm)));
	memset(norm, 0, 2 * sizeof(*norm));
	for (int i = 0; i < 2; i++)
		NEED(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned at = VARIANT == ADVICE ? step % 2 : 0;

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, norm + at));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		rule_update(&r);
		if (VARIANT == ADVICE)
			NEED(cudaEventRecord(there[at], r.stream));
		if (VARIANT == TRAP)
			/* needed: TFS201 x1 stream 13 */
			NEED(cudaStreamSynchronize(r.stream));
		if (VARIANT != ADVICE)
			rule_see(norm, 1);
		else if (step > 0)
			look(norm, there, step - 1);
	}
	if (VARIANT == ADVICE)
		look(norm, there, STEPS - 1);
	rule_finish(&r);
	NEED(cudaFreeHost(norm));
	return 0;
}
