/* SPDX-License-Identifier: MIT */
/* TFS201, no trap: a little work in a second stream is under way whenever the wait for the first
 * one returns. The device runs dry all the same. */
#include "tests/rules/rule_step.h"

enum { LITTLE = 64 };

int main(void)
{
	cudaStream_t other;
	cudaEvent_t done;
	struct rule_busy busy;
	float *little;
	struct rule r;

	rule_init(&r);
	little = rule_alloc(LITTLE);
	busy = rule_busy_init();
	NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	NEED(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		rule_keep_busy(&r, &busy);
		NEED(cudaEventRecord(done, r.stream));
		NEED(cudaStreamWaitEvent(other, done, 0));
		NEED(cudaMemsetAsync(little, 1, LITTLE, other));
		/* The 2 ms in which the host prepares the next batch. */
		/* expect: TFS201 x1 stream 13 1.82..2.34ms */
		NEED(cudaStreamSynchronize(r.stream));
	}
	rule_finish(&r);
	return 0;
}
