/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: the program begins to allocate in each step after 50,000 steps without. */
#include "tests/rules/rule_long.h"

int main(void)
{
	struct rule_long r;

	rule_long_init(&r);
	for (unsigned step = 0; step < LONG_STEPS; step++) {
		void *scratch = NULL;

		rule_long_step(&r);
		if (step < LONG_LATE)
			continue;
		NEED(cudaMalloc(&scratch, LONG_FLOATS)); /* unmeasured: TFS401 */
		NEED(cudaFree(scratch));
	}
	rule_long_finish(&r);
	return 0;
}
