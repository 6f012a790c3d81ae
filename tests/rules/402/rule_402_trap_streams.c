/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: between the zeroing on one stream and the product that overwrites the zeros on
 * it, another stream that waits for the zeroing reads them. */
#include "tests/rules/rule_step.h"

int main(void)
{
	cudaEvent_t zeroed, read;
	cudaStream_t other;
	struct rule r;
	float *kept;

	rule_init(&r);
	kept = rule_alloc(WEIGHTS);
	NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	NEED(cudaEventCreateWithFlags(&zeroed, cudaEventDisableTiming));
	NEED(cudaEventCreateWithFlags(&read, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemsetAsync(
			/* trap: TFS402 */ r.grad, 0, WEIGHTS * sizeof(float), r.stream));
		NEED(cudaEventRecord(zeroed, r.stream));
		NEED(cudaStreamWaitEvent(other, zeroed, 0));
		NEED(cudaMemcpyAsync(
			kept, r.grad, WEIGHTS * sizeof(float), cudaMemcpyDeviceToDevice, other));
		NEED(cudaEventRecord(read, other));
		NEED(cudaStreamWaitEvent(r.stream, read, 0));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_tell(kept, WEIGHTS);
	rule_finish(&r);
	return 0;
}
