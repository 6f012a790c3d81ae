/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the host takes part of the update. It waits for the gradient that it reads. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

/* The step before has the other half. */
static void look(const float *grad, const cudaEvent_t *there, unsigned step)
{
	NEED(cudaEventSynchronize(there[step % 2]));
	rule_see(grad + (step % 2 ? WEIGHTS : 0), WEIGHTS);
}

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	cudaEvent_t there[2];
	float *grad;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocHost((void **)&grad, 2 * bytes));
	memset(grad, 0, 2 * bytes);
	for (int i = 0; i < 2; i++)
		NEED(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		float *to = grad + (VARIANT == ADVICE && step % 2 ? WEIGHTS : 0);

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaMemcpyAsync(to, r.grad, bytes, cudaMemcpyDeviceToHost, r.stream));
		if (VARIANT == ADVICE)
			NEED(cudaEventRecord(there[step % 2], r.stream));
		if (VARIANT == TRAP)
			/* needed: TFS201 x1 stream 13 */
			NEED(cudaStreamSynchronize(r.stream));
		if (VARIANT != ADVICE)
			rule_see(to, WEIGHTS);
		else if (step > 0)
			look(grad, there, step - 1);
	}
	if (VARIANT == ADVICE)
		look(grad, there, STEPS - 1);
	rule_finish(&r);
	NEED(cudaFreeHost(grad));
	return 0;
}
