/* SPDX-License-Identifier: MIT */
/* TFS904, a trap: the run is over before anything is recorded in full. What no hook sees cannot be
 * told then, and "passed" is not meant. */
#include "tests/rules/rule_step.h"
#include "tests/tools/unseen_symbol.h"

int main(void)
{
	const float one = 1, zero = 0;
	struct rule r;
	__typeof__(&cublasSgemm) product =
		(__typeof__(product))unseen_symbol("libcublas.so.13", "cublasSgemm_v2");

	rule_init(&r);
	NEED(!product);
	for (unsigned step = 0; step < 3; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(product(r.blas, CUBLAS_OP_T, CUBLAS_OP_N, /* unmeasured: TFS904 */ OUTPUTS,
			BATCH, INPUTS, &one, r.weight, INPUTS, r.input[0], INPUTS, &zero, r.output,
			OUTPUTS));
	}
	rule_finish(&r);
	return 0;
}
