/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: two elementwise kernels in place behind each other on one stream; between them
 * another stream reads the values, ordered by events. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	const dim3 grid = {WEIGHTS / 256, 1, 1}, block = {256, 1, 1};
	cudaEvent_t first, read;
	cudaStream_t other;
	const void *halve;
	float *kept;
	struct rule r;
	int n = WEIGHTS;

	rule_init(&r);
	NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	NEED(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
	NEED(cudaEventCreateWithFlags(&read, cudaEventDisableTiming));
	halve = (const void *)exchange_kernel("halve");
	kept = rule_alloc(WEIGHTS);
	for (unsigned step = 0; step < STEPS; step++) {
		void *args[] = {&r.grad, &n};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaLaunchKernel(halve, grid, block, args, 0, r.stream));
		NEED(cudaEventRecord(first, r.stream));
		NEED(cudaStreamWaitEvent(other, first, 0));
		NEED(cudaMemcpyAsync(
			kept, r.grad, WEIGHTS * sizeof(float), cudaMemcpyDeviceToDevice, other));
		NEED(cudaEventRecord(read, other));
		NEED(cudaStreamWaitEvent(r.stream, read, 0));
		NEED(cudaLaunchKernel(halve, grid, block, args, 0, r.stream));
		NEED(cudaMemcpyAsync(
			r.grad, kept, WEIGHTS * sizeof(float), cudaMemcpyDeviceToDevice, r.stream));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
