/* SPDX-License-Identifier: MIT */
/* TFS105, a trap: every eighth step is followed by a validation, the first one before steps are
 * known. What that copies is in no step, and leaves nothing open. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { EACH = 8, BATCHES = 6 };

static void __attribute__((noinline)) validate(struct rule *r, float *images)
{
	static float outputs[OUTPUTS * BATCH];

	for (unsigned i = 0; i < BATCHES; i++) {
		NEED(cudaMemcpyAsync(r->input[0], images + i * BATCH_FLOATS,
			BATCH_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r->stream));
		rule_forward(r, 0);
		NEED(cudaMemcpyAsync(
			outputs, r->output, sizeof(outputs), cudaMemcpyDeviceToHost, r->stream));
		NEED(cudaStreamSynchronize(r->stream));
	}
}

int main(void)
{
	float *images;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocHost((void **)&images, BATCHES * BATCH_FLOATS * sizeof(float)));
	for (unsigned i = 0; i < BATCHES; i++)
		rule_fill(images + i * BATCH_FLOATS, BATCH_FLOATS, 1e-3f * (float)(i + 1));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (step % EACH == EACH - 1)
			validate(&r, images);
	}
	rule_finish(&r);
	return 0;
}
