/* SPDX-License-Identifier: MIT */
/* TFS303: eight parameters of their own, so large that a launch is hardly a part of what their
 * updates take. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PARAMETERS = 8, FLOATS = 256 << 10 };

int main(void)
{
	float *weight[PARAMETERS], *grad;
	const float rate = -0.01f;
	struct rule r;

	rule_init(&r);
	grad = rule_alloc(FLOATS);
	for (int i = 0; i < PARAMETERS; i++)
		weight[i] = rule_alloc(FLOATS);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		for (int i = 0; i < PARAMETERS; i++)
			NEED(cublasSaxpy(r.blas, FLOATS, &rate, grad, 1, weight[i], 1));
	}
	rule_finish(&r);
	return 0;
}
