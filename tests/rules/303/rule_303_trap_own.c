/* SPDX-License-Identifier: MIT */
/* TFS303: a kernel of the program's own is launched for each of 16 parts of the weights. That it
 * updates them is not seen. */
#define VARIANT TRAP
#include "tests/rules/rule_kernels.h"

enum { PARTS = 16, PART = WEIGHTS / PARTS };

int main(void)
{
	cudaKernel_t decay;
	struct rule r;

	rule_init(&r);
	decay = rule_kernel("decay");
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		for (int i = 0; i < PARTS; i++) {
			float *part = r.weight + i * PART, rate = 1e-3f;
			int count = PART;
			void *args[] = {&part, &rate, &count};

			/* unsure: TFS303 x16 stream 13 0..1300us */
			NEED(cudaLaunchKernel((const void *)decay, (dim3){PART / 256, 1, 1},
				(dim3){256, 1, 1}, args, 0, r.stream));
		}
	}
	rule_finish(&r);
	return 0;
}
