/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: memory comes and goes while the first steps run, which settle what is needed, and
 * then once in an epoch of 15 steps, which is worth a note at most. */
#include "tests/rules/rule_step.h"

enum { SETTLING = 6, EPOCH = 15 };

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	float *temporary = rule_alloc(WEIGHTS);
	float *more = NULL;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		if (step < SETTLING) {
			NEED(cudaFree(temporary));
			NEED(cudaMalloc((void **)&temporary, bytes));
		}
		rule_backward(&r, step, 0);
		NEED(cublasScopy(r.blas, WEIGHTS, r.grad, 1, temporary, 1));
		rule_update(&r);
		if (step % EPOCH == EPOCH - 1) {
			/* perhaps: TFS401 x0.07 17.5KiB 0us */
			NEED(cudaMalloc((void **)&more, bytes));
			/* perhaps: TFS401 x0.07 17.5KiB 0us */
			NEED(cudaFree(more));
		}
	}
	rule_finish(&r);
	NEED(cudaFree(temporary));
	return 0;
}
