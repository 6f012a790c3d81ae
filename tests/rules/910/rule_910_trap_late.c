/* SPDX-License-Identifier: MIT */
/* TFS910, a trap: the calls begin to fail when no step is judged any more. */
#include "tests/rules/rule_step.h"

enum { CLEAN_STEPS = 80, MORE = 60 };

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < CLEAN_STEPS + MORE; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		(void)cudaMemcpyAsync(/* unmeasured: TFS910 */ step < CLEAN_STEPS ? r.output : NULL,
			r.grad, sizeof(float), cudaMemcpyDeviceToDevice, r.stream);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
