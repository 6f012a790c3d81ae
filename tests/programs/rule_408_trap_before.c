/* SPDX-License-Identifier: MIT */
/* TFS408, a trap: a wait for an event that was recorded long before the memory was released. It
 * covers nothing of the release, so that the pool keeps the memory for the next step. */
#include "tests/programs/rule_step.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	cudaEvent_t early;
	struct rule r;
	void *scratch;

	rule_init(&r);
	NEED(cudaEventCreateWithFlags(&early, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaEventRecord(early, r.stream));
		NEED(cudaMallocAsync(&scratch, bytes, r.stream));
		rule_forward(&r, step);
		NEED(cudaMemcpyAsync(scratch, r.grad, bytes, cudaMemcpyDeviceToDevice, r.stream));
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaFreeAsync(scratch, r.stream));
		NEED(cudaEventSynchronize(early)); /* trap: TFS408 */
	}
	rule_finish(&r);
	return 0;
}
