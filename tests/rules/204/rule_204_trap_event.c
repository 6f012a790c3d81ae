/* SPDX-License-Identifier: MIT */
/* TFS204, a trap: an event has the stream that computes wait for the copy of the next batch: the
 * legacy stream's order comes to the same. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { WIDE = 1 << 20 };

struct own {
	float *host; /* a batch */
	cudaEvent_t copied[SLOTS];
};

static void init(struct rule *r, struct own *own)
{
	NEED(cudaStreamCreate(&r->stream));
	NEED(cublasSetStream(r->blas, r->stream));
	NEED(cudaMallocHost((void **)&own->host, WIDE * sizeof(float)));
	for (int i = 0; i < SLOTS; i++) {
		r->input[i] = rule_alloc(WIDE);
		NEED(cudaEventCreateWithFlags(&own->copied[i], cudaEventDisableTiming));
	}
}

static void upload(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	/* needed: TFS201 x1 legacy */
	NEED(cudaStreamSynchronize(NULL));
	rule_fill(own->host, BATCH_FLOATS, 1e-3f / (float)(1 + step % 7));
	/* 4 MiB in 3.4 ms, under computing twice as long. */
	/* note: TFS103 x1 4MiB legacy 2..4ms */
	NEED(cudaMemcpyAsync(
		r->input[slot], own->host, WIDE * sizeof(float), cudaMemcpyHostToDevice, NULL));
	NEED(cudaEventRecord(own->copied[slot], NULL));
	NEED(cudaStreamWaitEvent(r->stream, own->copied[slot], 0));
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
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
