/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: the gradient keeps the sum of earlier steps and is zeroed every fifth step. The
 * call that adds to the zeros adds to that sum in all other steps. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		if (step % 5 == 0)
			NEED(cudaMemsetAsync(r.grad, 0, bytes, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
