/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: a fill with a stride, in vain, since the product behind it writes the gradient.
 * Its arguments do not tell; so it is not said either that nothing is zeroed in vain. */
#include "tests/rules/rule_kernels.h"

int main(void)
{
	float zero = 0;
	int n = WEIGHTS, stride = 1;
	cudaKernel_t fill;
	struct rule r;

	rule_init(&r);
	fill = rule_kernel("fill");
	for (unsigned step = 0; step < STEPS; step++) {
		void *args[] = {&r.grad, &zero, &n, &stride};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_launch(&r, fill, n, args); /* unmeasured: TFS402 */
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
