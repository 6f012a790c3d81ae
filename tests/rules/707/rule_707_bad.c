/* SPDX-License-Identifier: MIT */
/* TFS707: a trainer without a bad habit, started by rule.sh with a switch on that makes launches
 * wait, and a log of each call of cuBLASLt. The clean twin is started without; the trap with
 * switches that are off, log errors only, or do not say where to log to. */
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
	}
	rule_finish(&r);
	return 0;
}
