/* SPDX-License-Identifier: MIT */
/* TFS107: the outputs are copied within the device's memory in 16 parts, and what comes next reads
 * the copy, though the outputs stay as they are. The clean twin reads the outputs; the trap makes a
 * copy or two that take hardly any time. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { COPIES = VARIANT == BAD ? 16 : VARIANT == CLEAN ? 0 : 2 };
enum { PART = OUTPUTS * BATCH / 16 };

static void copy(struct rule *r, float *kept)
{
	for (int i = 0; i < COPIES; i++)
		/* expect: TFS107 x16 64KiB stream 13 560..662us */
		NEED(cudaMemcpyAsync(kept + i * PART, r->output + i * PART, PART * sizeof(float),
			cudaMemcpyDeviceToDevice, r->stream));
}

static void backward(struct rule *r, unsigned step, const float *output)
{
	const float scale = 1.0f / BATCH, zero = 0;

	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH, &scale,
		r->input[step % SLOTS], INPUTS, output, OUTPUTS, &zero, r->grad, INPUTS));
}

int main(void)
{
	float *kept;
	struct rule r;

	rule_init(&r);
	kept = rule_alloc(OUTPUTS * BATCH);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		copy(&r, kept);
		backward(&r, step, VARIANT == BAD ? kept : r.output);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
