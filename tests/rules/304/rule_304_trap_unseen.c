/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: a small kernel is launched for each of 64 items, and no argument of it tells what
 * it works on. */
#define VARIANT TRAP
#include "tests/rules/rule_kernels.h"

enum { ITEMS = 64 };

int main(void)
{
	cudaKernel_t nothing;
	struct rule r;

	rule_init(&r);
	nothing = rule_kernel("nothing");
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; i < ITEMS; i++) {
			void *args[] = {&i};

			/* unmeasured: TFS304 */
			NEED(cudaLaunchKernel((const void *)nothing, (dim3){1, 1, 1},
				(dim3){1, 1, 1}, args, 0, r.stream));
		}
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
