/* SPDX-License-Identifier: MIT */
/* TFS910, a trap: a call begins to fail after it has done its work in 50,000 steps. */
#include "tests/rules/rule_long.h"

int main(void)
{
	struct rule_long r;

	rule_long_init(&r);
	for (unsigned step = 0; step < LONG_STEPS; step++) {
		(void)cudaMemcpyAsync(/* unmeasured: TFS910 */ step < LONG_LATE ? r.grad : NULL,
			r.input, sizeof(float), cudaMemcpyDeviceToDevice, r.stream);
		rule_long_step(&r);
	}
	rule_long_finish(&r);
	return 0;
}
