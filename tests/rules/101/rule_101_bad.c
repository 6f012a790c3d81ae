/* SPDX-License-Identifier: MIT */
/* TFS101: batches come from malloc'd memory. The trap copies from memory that malloc made too, but
 * that is registered, and little things from the stack. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* The batch from two pinned buffers by turns, on a stream of its own. */
static void upload(struct rule *r, cudaStream_t copies, cudaEvent_t *used, unsigned step)
{
	unsigned slot = step % SLOTS;

	NEED(cudaEventSynchronize(r->copied[slot]));
	rule_prepare(r->host[slot]);
	NEED(cudaStreamWaitEvent(copies, used[slot], 0));
	NEED(cudaMemcpyAsync(r->input[slot], r->host[slot], BATCH_FLOATS * sizeof(float),
		cudaMemcpyDefault, copies));
	NEED(cudaEventRecord(r->copied[slot], copies));
	NEED(cudaStreamWaitEvent(r->stream, r->copied[slot], 0));
}

static void train(struct rule *r, float *images)
{
	size_t bytes = BATCH_FLOATS * sizeof(float);
	float labels[64] = {0};
	cudaEvent_t used[SLOTS];
	cudaStream_t copies;

	NEED(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&used[i], cudaEventDisableTiming));

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned slot = step % SLOTS;

		if (VARIANT == CLEAN) {
			upload(r, copies, used, step);
		} else {
			NEED(cudaEventSynchronize(r->copied[slot]));
			rule_prepare(images);
			/* 664 us less where the copy still keeps the stream that computes waiting,
			 * 904 where it does not. */
			/* expect: TFS101 x1 256KiB stream 13 580..1000us */
			NEED(cudaMemcpyAsync(
				r->input[slot], images, bytes, cudaMemcpyDefault, r->stream));
			NEED(cudaEventRecord(r->copied[slot], r->stream));
		}
		if (VARIANT == TRAP)
			NEED(cudaMemcpyAsync(r->output, labels, sizeof(labels),
				cudaMemcpyHostToDevice, r->stream));
		rule_forward(r, step);
		rule_backward(r, step, 0);
		if (VARIANT == CLEAN)
			NEED(cudaEventRecord(used[slot], r->stream));
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
