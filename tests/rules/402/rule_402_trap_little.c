/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: 4 KiB are zeroed for nothing, in a step that takes two hundred times as long. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const float one = 1, zero = 0;
	const int side = 32;
	struct rule_busy busy;
	struct rule r;
	float *little;

	rule_init(&r);
	busy = rule_busy_init();
	little = rule_alloc((size_t)side * side);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaMemsetAsync(/* trap: TFS402 */ little, 0,
			(size_t)side * side * sizeof(float), r.stream));
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, r.weight,
			side, r.grad, side, &zero, little, side));
		rule_keep_busy(&r, &busy);
		rule_keep_busy(&r, &busy);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
