/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: the call that would overwrite what was zeroed fails, and the update adds the
 * zeros up, not what the last step left. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const float one = 1, zero = 0;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(cudaMemsetAsync(
			/* unmeasured: TFS402 */ r.grad, 0, WEIGHTS * sizeof(float), r.stream));
		/* expect: TFS910 x1 stream 13 0us */
		(void)cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH, &one,
			r.input[step % SLOTS], 1, r.output, OUTPUTS, &zero, r.grad, INPUTS);
		rule_update(&r);
		rule_backward(&r, step, 0);
	}
	rule_finish(&r);
	return 0;
}
