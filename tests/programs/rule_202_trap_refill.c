/* SPDX-License-Identifier: MIT */
/* TFS202, a trap: the norm that cuBLAS returns to the host is all that keeps the host from filling
 * the only pinned buffer while it is still being copied. */
#include "tests/programs/rule_step.h"

int main(void)
{
	float norm, sum = 0;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_prepare(r.host[0]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[0], BATCH_FLOATS * sizeof(float),
			cudaMemcpyHostToDevice, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cublasSnrm2(/* needed: TFS202 */ r.blas, WEIGHTS, r.grad, 1, &norm));
		sum += norm;
	}
	rule_finish(&r);
	printf("%g\n", (double)sum);
	return 0;
}
