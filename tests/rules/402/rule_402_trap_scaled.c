/* SPDX-License-Identifier: MIT */
/* TFS402: the gradient is zeroed by cuBLAS, as a vector times 0, only to be added to. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

int main(void)
{
	const float zero = 0;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		if (VARIANT == TRAP)
			/* expect: TFS402 x1 256KiB stream 13 520..610us */
			NEED(cublasSscal(r.blas, WEIGHTS, &zero, r.grad, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, VARIANT == ADVICE ? 0 : 1);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
