/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: the product behind the zeroing writes one half of the gradient, and the update
 * reads all of it. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	const float scale = 1.0f / BATCH, zero = 0;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemsetAsync(r.grad, 0, bytes, r.stream));
		rule_forward(&r, step);
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS / 2, BATCH,
			&scale, r.input[step % SLOTS], INPUTS, r.output, OUTPUTS, &zero, r.grad,
			INPUTS));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
