/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the wait for the event behind a copy, right before its only buffer is filled
 * again. Nothing else keeps the host from it, and the device has nothing left to do. */
#include "tests/programs/rule_step.h"

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaMemcpyAsync(r.input[(step + 1) % SLOTS], r.host[0],
			BATCH_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		NEED(cudaEventRecord(r.copied[0], r.stream));
		NEED(cudaEventSynchronize(r.copied[0])); /* needed: TFS201 */
		rule_prepare(r.host[0]);
	}
	rule_finish(&r);
	return 0;
}
