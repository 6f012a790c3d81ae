/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: the first steps allocate, before they are known to be steps, and the last ones do
 * again, when none is judged any more. That a validation comes now and then explains none of it. */
#include "tests/rules/rule_step.h"

enum { EARLY = 2, CLEAN_STEPS = 80, MORE = 60, EACH = 16, VALIDATED = 20 };

static void __attribute__((noinline)) validate(struct rule *r)
{
	static float outputs[OUTPUTS * BATCH];

	for (int i = 0; i < 40; i++)
		rule_forward(r, 0);
	NEED(cudaMemcpyAsync(
		outputs, r->output, sizeof(outputs), cudaMemcpyDeviceToHost, r->stream));
	NEED(cudaStreamSynchronize(r->stream));
}

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < CLEAN_STEPS + MORE; step++) {
		void *scratch = NULL;

		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; (step < EARLY || step >= CLEAN_STEPS) && i < EACH; i++) {
			NEED(cudaMalloc(&scratch, WEIGHTS)); /* unmeasured: TFS401 */
			NEED(cudaFree(scratch));
		}
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (step % VALIDATED == VALIDATED - 1 && step < CLEAN_STEPS + MORE - 1)
			validate(&r);
	}
	rule_finish(&r);
	return 0;
}
