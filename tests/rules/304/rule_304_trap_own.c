/* SPDX-License-Identifier: MIT */
/* TFS304: a kernel of the program's own is launched for each of 64 rows of the outputs. Whether one
 * needs what another one writes is not seen. */
#define VARIANT TRAP
#include "tests/rules/rule_kernels.h"

enum { ROWS = 64, ROW = OUTPUTS * BATCH / ROWS };

int main(void)
{
	cudaKernel_t decay;
	struct rule r;

	rule_init(&r);
	decay = rule_kernel("decay");
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; i < ROWS; i++) {
			float *row = r.output + i * ROW, rate = 1e-3f;
			int count = ROW;
			void *args[] = {&row, &rate, &count};

			/* unsure: TFS304 x64 stream 13 0..3ms */
			NEED(cudaLaunchKernel((const void *)decay, (dim3){1, 1, 1},
				(dim3){ROW, 1, 1}, args, 0, r.stream));
		}
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
