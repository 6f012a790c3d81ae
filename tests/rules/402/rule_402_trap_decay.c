/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: the rate of a weight decay is zero, and the update adds to the weights. The
 * kernel's arguments are those of a fill with zeros; without it the weights would stay. */
#include "tests/rules/rule_kernels.h"

int main(void)
{
	const float rate = -0.01f / BATCH, one = 1;
	float none = 0;
	int n = WEIGHTS;
	cudaKernel_t decay;
	struct rule r;

	rule_init(&r);
	decay = rule_kernel("decay");
	for (unsigned step = 0; step < STEPS; step++) {
		void *args[] = {&r.weight, &none, &n};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_launch(&r, decay, n, args); /* unmeasured: TFS402 */
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH, &rate,
			r.input[step % SLOTS], INPUTS, r.output, OUTPUTS, &one, r.weight, INPUTS));
	}
	rule_finish(&r);
	return 0;
}
