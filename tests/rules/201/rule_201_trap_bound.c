/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: a host that has nothing else to do waits in each step, so that the queue does not
 * fill up: for the step before the last, while the device has all of the last one to do. */
#include "tests/rules/rule_step.h"

enum { AHEAD = 2 };

int main(void)
{
	cudaEvent_t done[AHEAD];
	struct rule r;

	rule_init(&r);
	for (int i = 0; i < AHEAD; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % AHEAD])); /* trap: TFS201 */
		for (int i = 0; i < 8; i++)
			rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % AHEAD], r.stream));
	}
	rule_finish(&r);
	return 0;
}
