/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the host reads what was copied asynchronously to pageable memory. Such a copy may
 * wait, and may return early: the wait behind it is needed. As advised for the copy and for the
 * wait, the memory is pinned and there are two of it. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

static float *grads[2];
static cudaEvent_t there[2];

static void look(unsigned step)
{
	if (VARIANT == ADVICE)
		NEED(cudaEventSynchronize(there[step % 2]));
	rule_see(grads[VARIANT == ADVICE ? step % 2 : 0], WEIGHTS);
}

static void train(struct rule *r)
{
	const size_t bytes = WEIGHTS * sizeof(float);

	for (unsigned step = 0; step < STEPS; step++) {
		float *to = grads[VARIANT == ADVICE ? step % 2 : 0];

		rule_upload(r, step);
		rule_forward(r, step);
		rule_backward(r, step, 0);
		rule_update(r);
		/* expect: TFS101 x1 256KiB stream 13 600..750us */
		/* note: TFS202 x1 256KiB stream 13 600..750us */
		NEED(cudaMemcpyAsync(to, r->grad, bytes, cudaMemcpyDeviceToHost, r->stream));
		if (VARIANT == TRAP)
			/* kept: TFS201 x1 stream 13 600..750us */
			NEED(cudaStreamSynchronize(r->stream));
		if (VARIANT != ADVICE)
			look(step);
		else
			NEED(cudaEventRecord(there[step % 2], r->stream));
		if (VARIANT == ADVICE && step > 0)
			look(step - 1);
	}
	if (VARIANT == ADVICE)
		look(STEPS - 1);
}

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	struct rule r;

	rule_init(&r);
	for (int i = 0; i < 2; i++) {
		if (VARIANT == ADVICE)
			NEED(cudaMallocHost((void **)&grads[i], bytes));
		else
			grads[i] = malloc(bytes);
		NEED(grads[i] ? cudaSuccess : cudaErrorMemoryAllocation);
		memset(grads[i], 0, bytes);
		NEED(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
	}
	train(&r);
	rule_finish(&r);
	return 0;
}
