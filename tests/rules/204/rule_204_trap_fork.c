/* SPDX-License-Identifier: MIT */
/* TFS204: two streams rely on the legacy one's order among themselves: the second one uses what the
 * first one makes, and waits for it by the copy between them alone. */
#include "tests/rules/rule_step.h"

static void upload(struct rule *r, unsigned step)
{
	const unsigned slot = step % SLOTS;

	NEED(cudaEventSynchronize(r->copied[slot]));
	rule_fill(r->host[slot], BATCH_FLOATS, 1e-3f / (float)(1 + step % 7));
	/* 240 us, under a product that takes ten times as long. */
	/* unsure: TFS204 x1 256KiB legacy 0..0.4ms */
	NEED(cudaMemcpyAsync(r->input[slot], r->host[slot], BATCH_FLOATS * sizeof(float),
		cudaMemcpyHostToDevice, NULL));
	NEED(cudaEventRecord(r->copied[slot], NULL));
}

int main(void)
{
	cudaStream_t second;
	cudaEvent_t learned;
	struct rule r;

	rule_init(&r);
	NEED(cudaStreamCreate(&r.stream));
	NEED(cudaStreamCreate(&second));
	NEED(cudaEventCreateWithFlags(&learned, cudaEventDisableTiming));
	upload(&r, 0);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaStreamWaitEvent(r.stream, learned, 0));
		NEED(cublasSetStream(r.blas, r.stream));
		rule_forward(&r, step);
		upload(&r, step + 1);
		NEED(cublasSetStream(r.blas, second));
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(learned, second));
	}
	rule_finish(&r);
	return 0;
}
