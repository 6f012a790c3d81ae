/* SPDX-License-Identifier: MIT */
/* TFS701: the host makes the next batch, and zeroes the gradients behind that: what the device is
 * given first is no batch, but the batch's copy comes next. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

int main(void)
{
	const struct timespec pause = {.tv_nsec = 16000000};
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = step % SLOTS;

		NEED(cudaEventSynchronize(r.copied[slot]));
		nanosleep(&pause, NULL);
		rule_fill(r.host[slot], BATCH_FLOATS, 1e-3f / (float)(1 + step % 7));
		/* The device takes 11.3 ms for a step, and the host 16.08. In one of 50 steps the
		 * stretch began before what was recorded. */
		/* expect: TFS701 x0.98 stream 13 3.1..5.3ms */
		NEED(cudaMemsetAsync(r.grad, 0, WEIGHTS * sizeof(float), r.stream));
		NEED(cudaMemcpyAsync(r.input[slot], r.host[slot], BATCH_FLOATS * sizeof(float),
			cudaMemcpyHostToDevice, r.stream));
		NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 1);
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
