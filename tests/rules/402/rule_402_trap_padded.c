/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: the product behind the zeroing leaves gaps between the columns that it writes,
 * and what reads the whole counts on zeros there. */
#include "tests/rules/rule_step.h"

enum { PADDED = INPUTS + 8 };

int main(void)
{
	const float scale = 1.0f / BATCH, zero = 0, rate = -0.01f;
	struct rule r;
	float *grad, *weight;

	rule_init(&r);
	grad = rule_alloc(PADDED * OUTPUTS);
	weight = rule_alloc(PADDED * OUTPUTS);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemsetAsync(grad, 0, (size_t)PADDED * OUTPUTS * sizeof(float), r.stream));
		NEED(cublasSgemm(r.blas, CUBLAS_OP_T, CUBLAS_OP_N, OUTPUTS, BATCH, INPUTS, &scale,
			weight, PADDED, r.input[step % SLOTS], INPUTS, &zero, r.output, OUTPUTS));
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH, &scale,
			r.input[step % SLOTS], INPUTS, r.output, OUTPUTS, &zero, grad, PADDED));
		NEED(cublasSaxpy(r.blas, PADDED * OUTPUTS, &rate, grad, 1, weight, 1));
	}
	rule_finish(&r);
	return 0;
}
