/* SPDX-License-Identifier: MIT */
/* Two waits that a step does without. One stands in the step; the other is in a function that is
 * called behind the last step too, where it is needed: a change of that line would be one there. */
#include "tests/rules/rule_step.h"

static __attribute__((noinline)) void settle(void)
{
	NEED(cudaDeviceSynchronize());
}

static __attribute__((noinline)) void multiply(struct rule *r, unsigned step)
{
	rule_forward(r, step);
	NEED(cudaDeviceSynchronize());
	rule_backward(r, step, 0);
}

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		multiply(&r, step);
		settle();
		rule_update(&r);
	}
	settle();
	rule_finish(&r);
	return 0;
}
