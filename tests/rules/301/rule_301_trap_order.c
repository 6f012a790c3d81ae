/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel turns the order of the values round. In one pass with the first
 * it would move some that are not scaled yet; but from outside the two look elementwise. */
#include "tests/rules/rule_kernels.h"

int main(void)
{
	float rate = 1e-3f;
	int n = WEIGHTS;
	cudaKernel_t decay, turn;
	struct rule r;

	rule_init(&r);
	decay = rule_kernel("decay");
	turn = rule_kernel("turn");
	for (unsigned step = 0; step < STEPS; step++) {
		void *scale[] = {&r.grad, &rate, &n}, *order[] = {&r.grad, &n};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		/* unsure: TFS301 x1 1MiB stream 13 0..1270us */
		NEED(cudaLaunchKernel((const void *)decay, (dim3){(WEIGHTS + 255) / 256, 1, 1},
			(dim3){256, 1, 1}, scale, 0, r.stream));
		rule_launch(&r, turn, n, order);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
