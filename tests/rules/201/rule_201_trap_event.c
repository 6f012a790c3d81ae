/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the wait for the event behind a copy, right before its only buffer is filled
 * again. Nothing else keeps the host from it, and the device has nothing left to do. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

int main(void)
{
	unsigned slot = 0;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaMemcpyAsync(r.input[(step + 1) % SLOTS], r.host[slot],
			BATCH_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		NEED(cudaEventRecord(r.copied[slot], r.stream));
		if (VARIANT == ADVICE)
			slot = (step + 1) % SLOTS;
		if (VARIANT != WRONG)
			/* needed: TFS201 x1 */
			NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(r.host[slot]);
	}
	rule_finish(&r);
	return 0;
}
