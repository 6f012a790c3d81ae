/* SPDX-License-Identifier: MIT */
/* TFS107: a table is changed where it is used, and brought back from a copy that stays as it is, in
 * 16 parts: without these there is nothing to bring it back from. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { TABLE = OUTPUTS * BATCH, PART = TABLE / 16 };

int main(void)
{
	const float half = 0.5f, little = 1e-3f;
	float *kept, *table;
	struct rule r;

	rule_init(&r);
	table = rule_alloc(TABLE);
	kept = rule_alloc(TABLE);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		for (int i = 0; i < TABLE; i += PART)
			NEED(cudaMemcpyAsync(table + i, kept + i, PART * sizeof(float),
				cudaMemcpyDeviceToDevice, r.stream));
		rule_forward(&r, step);
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, OUTPUTS, OUTPUTS, OUTPUTS,
			&little, r.weight, OUTPUTS, r.output, OUTPUTS, &half, table, OUTPUTS));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
