/* SPDX-License-Identifier: MIT */
/* TFS201: waits for the stream after each step. The trap orders two streams by events, asks whether
 * they have passed, and waits for the device every 20th step. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void order(struct rule *r, cudaStream_t other, cudaEvent_t done, unsigned step)
{
	NEED(cudaEventRecord(done, r->stream));
	NEED(cudaStreamWaitEvent(other, done, 0));
	(void)cudaEventQuery(done);
	(void)cudaStreamQuery(other);
	if (step % 20 == 19)
		NEED(cudaDeviceSynchronize());
}

int main(void)
{
	cudaStream_t other;
	cudaEvent_t done;
	struct rule r;

	rule_init(&r);
	NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	NEED(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == BAD)
			/* expect: TFS201 x1 stream 13 1.82..2.34ms */
			NEED(cudaStreamSynchronize(r.stream));
		if (VARIANT == TRAP)
			order(&r, other, done, step);
	}
	rule_finish(&r);
	return 0;
}
