/* SPDX-License-Identifier: MIT */
/* TFS107: the outputs are kept in 16 parts before they are changed, and both are used. As the
 * report says, what makes them could write them where they are kept, which is not seen. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PART = OUTPUTS * BATCH / 16 };

int main(void)
{
	const float half = 0.5f, little = 1e-3f;
	float *kept;
	struct rule r;

	rule_init(&r);
	kept = rule_alloc(OUTPUTS * BATCH);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; i < 16; i++)
			/* unsure: TFS107 x16 64KiB stream 13 0..1100us */
			NEED(cudaMemcpyAsync(kept + i * PART, r.output + i * PART,
				PART * sizeof(float), cudaMemcpyDeviceToDevice, r.stream));
		NEED(cublasSscal(r.blas, OUTPUTS * BATCH, &half, r.output, 1));
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, OUTPUTS, OUTPUTS, OUTPUTS,
			&little, kept, OUTPUTS, r.output, OUTPUTS, &half, r.weight, OUTPUTS));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
