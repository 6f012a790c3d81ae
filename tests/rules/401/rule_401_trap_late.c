/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: the program begins to allocate in the middle of each step when no step is judged
 * any more. */
#include "tests/rules/rule_step.h"

enum { CLEAN_STEPS = 80, MORE = 60, EACH = 16 };

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < CLEAN_STEPS + MORE; step++) {
		void *scratch = NULL;

		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; step >= CLEAN_STEPS && i < EACH; i++) {
			NEED(cudaMalloc(&scratch, WEIGHTS)); /* unmeasured: TFS401 */
			NEED(cudaFree(scratch));
		}
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
