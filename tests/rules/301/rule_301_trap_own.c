/* SPDX-License-Identifier: MIT */
/* TFS301: two elementwise kernels of the program in place behind each other, which the report
 * finds. The one before them writes what it does not read: what that does with its neighbours'
 * values is not known, and it is none of the chain. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	const dim3 grid = {WEIGHTS / 256, 1, 1}, block = {256, 1, 1};
	cudaKernel_t halve, twice;
	float *learned;
	struct rule r;
	int n = WEIGHTS;

	rule_init(&r);
	halve = exchange_kernel("halve");
	twice = exchange_kernel("twice");
	learned = rule_alloc(WEIGHTS);
	for (unsigned step = 0; step < STEPS; step++) {
		void *copy[] = {&learned, &r.grad, &n}, *same[] = {&learned, &n};
		const void *kernel = (const void *)halve;

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaLaunchKernel((const void *)twice, grid, block, copy, 0, r.stream));
		/* unsure: TFS301 x1 512KiB stream 13 0..610us */
		NEED(cudaLaunchKernel(kernel, grid, block, same, 0, r.stream));
		NEED(cudaLaunchKernel(kernel, grid, block, same, 0, r.stream));
		NEED(cudaMemcpyAsync(r.grad, learned, WEIGHTS * sizeof(float),
			cudaMemcpyDeviceToDevice, r.stream));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
