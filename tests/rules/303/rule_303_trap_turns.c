/* SPDX-License-Identifier: MIT */
/* TFS303, a trap: an optimiser that takes two small kernels for each parameter, by turns, and no
 * argument of them tells what they work on. */
/* unmeasured: TFS303 */
#define VARIANT TRAP
#include "tests/rules/rule_kernels.h"

enum { PARAMETERS = 12 };

int main(void)
{
	cudaKernel_t nothing;
	struct rule r;

	rule_init(&r);
	nothing = rule_kernel("nothing");
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		for (int i = 0; i < PARAMETERS; i++) {
			void *args[] = {&i};

			NEED(cudaLaunchKernel((const void *)nothing, (dim3){1, 1, 1},
				(dim3){1, 1, 1}, args, 0, r.stream));
			NEED(cudaLaunchKernel((const void *)nothing, (dim3){2, 1, 1},
				(dim3){1, 1, 1}, args, 0, r.stream));
		}
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
