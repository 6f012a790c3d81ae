/* SPDX-License-Identifier: MIT */
/* TFS301: the second of two kernels in place divides a row by its sum, which its threads tell each
 * other without memory. From outside nothing tells it from an elementwise one: what is said holds
 * only where it is, and may save nothing. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	const dim3 grid = {WEIGHTS / 256, 1, 1}, block = {256, 1, 1};
	cudaKernel_t halve, soften;
	struct rule r;
	int n = WEIGHTS;

	rule_init(&r);
	halve = exchange_kernel("halve");
	soften = exchange_kernel("soften_warp");
	for (unsigned step = 0; step < STEPS; step++) {
		void *args[] = {&r.grad, &n};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		/* unsure: TFS301 x1 1MiB stream 13 0..1270us */
		NEED(cudaLaunchKernel((const void *)halve, grid, block, args, 0, r.stream));
		NEED(cudaLaunchKernel((const void *)soften, grid, block, args, 0, r.stream));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
