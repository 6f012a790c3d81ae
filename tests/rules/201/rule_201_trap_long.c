/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the program begins to wait in each step after 50,000 steps without. */
#include "tests/rules/rule_long.h"

int main(void)
{
	struct rule_long r;

	rule_long_init(&r);
	for (unsigned step = 0; step < LONG_STEPS; step++) {
		rule_long_step(&r);
		if (step >= LONG_LATE)
			NEED(cudaStreamSynchronize(r.stream)); /* unmeasured: TFS201 */
	}
	rule_long_finish(&r);
	return 0;
}
