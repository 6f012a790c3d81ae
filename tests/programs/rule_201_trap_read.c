/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the host takes part of the update. It waits for the gradient that it reads. */
#include "tests/programs/rule_step.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	float *grad, sum = 0;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocHost((void **)&grad, bytes));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaMemcpyAsync(grad, r.grad, bytes, cudaMemcpyDeviceToHost, r.stream));
		NEED(cudaStreamSynchronize(r.stream)); /* needed: TFS201 */
		sum += grad[step];
	}
	rule_finish(&r);
	NEED(cudaFreeHost(grad));
	printf("%g\n", (double)sum);
	return 0;
}
