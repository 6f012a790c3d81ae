/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: each step is timed by two events, and the second one waited for. That wait can
 * go, but it is the program's way to measure: a note. */
#include "tests/programs/rule_step.h"

int main(void)
{
	cudaEvent_t begin, end;
	float total = 0, ms;
	struct rule r;

	rule_init(&r);
	NEED(cudaEventCreate(&begin));
	NEED(cudaEventCreate(&end));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaEventRecord(begin, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(end, r.stream));
		/* note: TFS201 x1 1.82..2.34ms */
		NEED(cudaEventSynchronize(end));
		NEED(cudaEventElapsedTime(&ms, begin, end));
		total += ms;
	}
	rule_finish(&r);
	printf("%g ms on the device\n", (double)total);
	return 0;
}
