/* SPDX-License-Identifier: MIT */
/* TFS103: what is copied to the device is what came from it in the step before, and what the host
 * made of it. It cannot be copied sooner, which is not seen. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { BYTES = 4 << 20 };

int main(void)
{
	struct rule_busy busy;
	float *host, *state;
	cudaEvent_t back;
	struct rule r;

	rule_init(&r);
	busy = rule_busy_init();
	state = rule_alloc(BYTES / sizeof(float));
	NEED(cudaMallocHost((void **)&host, BYTES));
	memset(host, 0, BYTES);
	NEED(cudaEventCreateWithFlags(&back, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(/* trap: TFS201 */ back));
		host[step] += 1;
		/* unsure: TFS103 x1 4MiB stream 13 0..3.7ms */
		NEED(cudaMemcpyAsync(state, host, BYTES, cudaMemcpyHostToDevice, r.stream));
		rule_keep_busy(&r, &busy);
		r.input[step % SLOTS] = state;
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaMemcpyAsync(host, state, BYTES, cudaMemcpyDeviceToHost, r.stream));
		NEED(cudaEventRecord(back, r.stream));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
