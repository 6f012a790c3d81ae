/* SPDX-License-Identifier: MIT */
/* TFS402: the gradient is zeroed only to be added to. The clean twin has it overwritten; in the
 * trap two products add to it, so that the zeros are needed. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		if (VARIANT != CLEAN)
			/* expect: TFS402 x1 256KiB stream 13 265..340us */
			NEED(cudaMemsetAsync(r.grad, 0, bytes, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, VARIANT == CLEAN ? 0 : 1);
		if (VARIANT == TRAP)
			rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
