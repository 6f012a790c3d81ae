/* SPDX-License-Identifier: MIT */
/* TFS403, a trap: kernels of one block run side by side on two streams, and may fill the device
 * together. */
#define VARIANT TRAP
#include "tests/rules/rule_kernels.h"

int main(void)
{
	cudaStream_t streams[2];
	cudaEvent_t done[SLOTS];
	cudaKernel_t dwell;
	int clocks = 30000;
	void *args[] = {&clocks};
	struct rule r;

	rule_init(&r);
	dwell = rule_kernel("dwell");
	streams[0] = r.stream;
	NEED(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		for (int i = 0; i < 8; i++)
			/* unmeasured: TFS403 */
			NEED(cudaLaunchKernel((const void *)dwell, (dim3){1, 1, 1},
				(dim3){256, 1, 1}, args, 0, streams[i % 2]));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
	return 0;
}
