/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: two elementwise kernels behind each other, whose pointers are in structs that are
 * passed by value. Nothing of what they work on is recorded, and that is said. */
#include "tests/rules/rule_kernels.h"

int main(void)
{
	struct rule_sum sum;
	void *args[] = {&sum};
	cudaKernel_t add;
	struct rule r;

	rule_init(&r);
	add = rule_kernel("add");
	sum = (struct rule_sum){r.grad, WEIGHTS, 1e-6f};
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_launch(&r, add, WEIGHTS, args); /* unmeasured: TFS301 */
		rule_launch(&r, add, WEIGHTS, args);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
