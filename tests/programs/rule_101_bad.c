/* SPDX-License-Identifier: MIT */
/* TFS101: batches come from malloc'd memory. The trap copies from memory that malloc made too, but
 * that is registered, and little things from the stack. */
#include "tests/programs/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void train(struct rule *r, float *images)
{
	size_t bytes = BATCH_FLOATS * sizeof(float);
	float labels[64] = {0};

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned slot = step % SLOTS;

		if (VARIANT == CLEAN) {
			rule_upload(r, step);
		} else {
			NEED(cudaEventSynchronize(r->copied[slot]));
			rule_prepare(images);
			NEED(cudaMemcpyAsync(/* expect: TFS101 */ r->input[slot], images, bytes,
				cudaMemcpyDefault, r->stream));
			NEED(cudaEventRecord(r->copied[slot], r->stream));
		}
		if (VARIANT == TRAP)
			NEED(cudaMemcpyAsync(r->output, labels, sizeof(labels),
				cudaMemcpyHostToDevice, r->stream));
		rule_forward(r, step);
		rule_backward(r, step, 0);
		rule_update(r);
	}
}

int main(void)
{
	size_t bytes = BATCH_FLOATS * sizeof(float);
	float *images = malloc(bytes);
	struct rule r;

	if (!images)
		return 1;
	rule_init(&r);
	if (VARIANT == TRAP)
		NEED(cudaHostRegister(images, bytes, cudaHostRegisterDefault));
	train(&r, images);
	rule_finish(&r);
	if (VARIANT == TRAP)
		NEED(cudaHostUnregister(images));
	free(images);
	return 0;
}
