/* SPDX-License-Identifier: MIT */
/* TFS204: the host waits for the legacy stream before it fills the memory again that a copy of this
 * stream reads: on another stream the copy is not waited for by that. */
#ifndef VARIANT
#define VARIANT TRAP
#endif
#include "tests/rules/rule_step.h"

enum { WIDE = 1 << 20 };

struct own {
	float *host; /* a batch */
	cudaStream_t copies;
	cudaEvent_t copied[SLOTS], used[SLOTS];
};

static void init(struct rule *r, struct own *own)
{
	NEED(cudaStreamCreate(&r->stream));
	NEED(cublasSetStream(r->blas, r->stream));
	own->copies = NULL;
	if (VARIANT != TRAP)
		NEED(cudaStreamCreateWithFlags(&own->copies, cudaStreamNonBlocking));
	NEED(cudaMallocHost((void **)&own->host, WIDE * sizeof(float)));
	for (int i = 0; i < SLOTS; i++) {
		r->input[i] = rule_alloc(WIDE);
		NEED(cudaEventCreateWithFlags(&own->copied[i], cudaEventDisableTiming));
		NEED(cudaEventCreateWithFlags(&own->used[i], cudaEventDisableTiming));
	}
}

static void upload(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	/* needed: TFS201 x1 legacy */
	NEED(cudaStreamSynchronize(VARIANT == ADVICE ? own->copies : NULL));
	rule_fill(own->host, BATCH_FLOATS, 1e-3f / (float)(1 + step % 7));
	if (VARIANT != TRAP)
		NEED(cudaStreamWaitEvent(own->copies, own->used[slot], 0));
	/* 4 MiB in 3.4 ms, under computing twice as long. */
	/* expect: TFS204 x1 4MiB legacy 2..4ms */
	/* note: TFS103 x1 4MiB legacy 2..4ms */
	NEED(cudaMemcpyAsync(r->input[slot], own->host, WIDE * sizeof(float),
		cudaMemcpyHostToDevice, own->copies));
	NEED(cudaEventRecord(own->copied[slot], own->copies));
}

static void learn(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	if (VARIANT != TRAP)
		NEED(cudaStreamWaitEvent(r->stream, own->copied[slot], 0));
	rule_forward(r, step);
	rule_backward(r, step, 0);
	rule_update(r);
	NEED(cudaEventRecord(own->used[slot], r->stream));
}

int main(void)
{
	struct rule r;
	struct own own;

	rule_init(&r);
	init(&r, &own);
	upload(&r, &own, 0);
	for (unsigned step = 0; step < STEPS; step++) {
		upload(&r, &own, step + 1);
		learn(&r, &own, step);
	}
	rule_finish(&r);
	return 0;
}
