/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: an evaluation after every 50 steps waits for each of its batches. It is no part
 * of the step, and its calls are no reason to doubt what the steps show. */
#include "tests/rules/rule_step.h"

enum { EPOCH = 50, EPOCHS = 4, TESTED = 30 };

static void evaluate(struct rule *r)
{
	for (unsigned i = 0; i < TESTED; i++) {
		rule_prepare(r->host[0]);
		NEED(cudaMemcpyAsync(r->input[0], r->host[0], BATCH_FLOATS * sizeof(float),
			cudaMemcpyHostToDevice, r->stream));
		rule_forward(r, 0);
		NEED(cudaStreamSynchronize(r->stream)); /* trap: TFS201 */
	}
}

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
		for (unsigned step = 0; step < EPOCH; step++) {
			rule_upload(&r, step);
			rule_forward(&r, step);
			rule_backward(&r, step, 0);
			rule_update(&r);
		}
		evaluate(&r);
	}
	rule_finish(&r);
	return 0;
}
