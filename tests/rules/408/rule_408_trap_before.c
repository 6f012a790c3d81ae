/* SPDX-License-Identifier: MIT */
/* TFS408, a trap: between releasing memory and taking it again, the program waits for an event that
 * was recorded long before. The device has not come to the release by then, so that the pool keeps
 * the memory. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	cudaEvent_t early;
	struct rule_busy busy;
	struct rule r;
	void *scratch;

	rule_init(&r);
	busy = rule_busy_init();
	NEED(cudaEventCreateWithFlags(&early, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaEventRecord(early, r.stream));
		NEED(cudaMallocAsync(&scratch, bytes, r.stream));
		NEED(cublasScopy(r.blas, WEIGHTS, r.weight, 1, scratch, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_keep_busy(&r, &busy);
		NEED(cudaFreeAsync(scratch, r.stream));
		rule_update(&r);
		NEED(cudaEventSynchronize(early)); /* trap: TFS408 */
	}
	rule_finish(&r);
	return 0;
}
