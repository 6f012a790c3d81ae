/* SPDX-License-Identifier: MIT */
/* TFS701: the host does something long of its own in the middle of the step, and what the device is
 * given then is no input, for all that is seen. That time stays unexplained. */
/* unmeasured: TFS701 */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

int main(void)
{
	const struct timespec pause = {.tv_nsec = 12000000};
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		nanosleep(&pause, NULL);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
