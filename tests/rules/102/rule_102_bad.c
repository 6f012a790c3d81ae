/* SPDX-License-Identifier: MIT */
/* TFS102: batches are copied from pinned memory by a call that waits, on the legacy stream, so that
 * nothing runs beside it. The clean twin copies on a stream of its own; the trap too, and copies
 * and zeroes what is on the device with calls of the same kind, which do not wait. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

struct own {
	cudaStream_t copies;
	cudaEvent_t used[SLOTS];
	float *kept, *zeros;
};

static void init(struct rule *r, struct own *own)
{
	rule_init(r);
	/* The legacy stream waits for this one. */
	NEED(cudaStreamCreate(&r->stream));
	NEED(cublasSetStream(r->blas, r->stream));
	NEED(cudaStreamCreateWithFlags(&own->copies, cudaStreamNonBlocking));
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&own->used[i], cudaEventDisableTiming));
	own->kept = rule_alloc(OUTPUTS * BATCH);
	own->zeros = rule_alloc(OUTPUTS * BATCH);
}

/* From two pinned buffers by turns. */
static void upload(struct rule *r, struct own *own, unsigned slot)
{
	NEED(cudaStreamWaitEvent(own->copies, own->used[slot], 0));
	NEED(cudaMemcpyAsync(r->input[slot], r->host[slot], BATCH_FLOATS * sizeof(float),
		cudaMemcpyHostToDevice, own->copies));
	NEED(cudaEventRecord(r->copied[slot], own->copies));
	NEED(cudaStreamWaitEvent(r->stream, r->copied[slot], 0));
}

static void look_alike(struct rule *r, struct own *own)
{
	const size_t count = OUTPUTS * BATCH, bytes = count * sizeof(float);
	const float one = 1;

	NEED(cudaMemcpy(
		/* trap: TFS102 */ own->kept, r->output, bytes, cudaMemcpyDeviceToDevice));
	NEED(cudaMemset(/* trap: TFS102 */ own->zeros, 0, bytes));
	NEED(cublasSaxpy(r->blas, count, &one, own->zeros, 1, r->weight, 1));
}

int main(void)
{
	struct own own;
	struct rule r;

	init(&r, &own);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned slot = step % SLOTS;

		NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(r.host[slot]);
		if (VARIANT == BAD)
			/* The device has nothing to do for the 240 us of the copy, which may run
			 * beside computing, and for 70 until the next step begins. */
			/* expect: TFS102 x1 256KiB legacy 60..330us */
			NEED(cudaMemcpy(r.input[slot], r.host[slot], BATCH_FLOATS * sizeof(float),
				cudaMemcpyHostToDevice));
		else
			upload(&r, &own, slot);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaEventRecord(own.used[slot], r.stream));
		rule_update(&r);
		if (VARIANT == TRAP)
			look_alike(&r, &own);
	}
	rule_finish(&r);
	return 0;
}
