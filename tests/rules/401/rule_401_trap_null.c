/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: releasing nothing, which does nothing and waits for nothing. */
#include "tests/rules/rule_step.h"

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaFree(NULL));
		NEED(cudaFreeHost(NULL));
		NEED(cudaFreeAsync(NULL, r.stream));
	}
	rule_finish(&r);
	return 0;
}
