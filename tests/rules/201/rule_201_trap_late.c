/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the program begins to wait in each step when no step is judged any more. What the
 * judged steps show is no reason to say that it does not. */
#include "tests/rules/rule_step.h"

enum { CLEAN_STEPS = 80, MORE = 60 };

int main(void)
{
	struct rule_busy busy;
	struct rule r;

	rule_init(&r);
	busy = rule_busy_init();
	for (unsigned step = 0; step < CLEAN_STEPS + MORE; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_keep_busy(&r, &busy);
		rule_update(&r);
		if (step >= CLEAN_STEPS)
			NEED(cudaStreamSynchronize(r.stream)); /* unmeasured: TFS201 */
	}
	rule_finish(&r);
	return 0;
}
