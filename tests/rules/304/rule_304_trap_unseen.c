/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: a small kernel is launched for each of 64 items, and no argument of it tells what
 * it works on. */
#define VARIANT TRAP
#include "tests/rules/rule_kernels.h"

enum { ITEMS = 64 };
#ifndef SHAPES
#define SHAPES 1
#endif
#ifndef SEEN
#define SEEN 0
#endif

int main(void)
{
	cudaKernel_t nothing, decay;
	struct rule r;

	rule_init(&r);
	nothing = rule_kernel("nothing");
	decay = rule_kernel("decay");
	for (unsigned step = 0; step < STEPS; step++) {
		int count = 1;
		float rate = 1e-3f;

		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; i < ITEMS; i++) {
			const int seen = i < SEEN;
			void *named[] = {&r.output, &rate, &count}, *args[] = {&i};

			/* unmeasured: TFS304 */
			NEED(cudaLaunchKernel((const void *)(seen ? decay : nothing),
				(dim3){1 + (unsigned)i % SHAPES, 1, 1}, (dim3){1, 1, 1},
				seen ? named : args, 0, r.stream));
		}
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
