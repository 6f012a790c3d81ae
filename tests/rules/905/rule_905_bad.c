/* SPDX-License-Identifier: MIT */
/* TFS905: a run too short to judge. The trap is short as well, and still long enough. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

int main(void)
{
	const unsigned count = VARIANT == BAD ? 20 : VARIANT == TRAP ? 45 : STEPS;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < count; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
