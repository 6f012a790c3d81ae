/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: one pinned buffer, filled again for each batch. Without the wait at the end of
 * the step the host would fill it while it is still being copied: a note, with what to do first. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = VARIANT == ADVICE ? step % SLOTS : 0;

		if (VARIANT == ADVICE)
			NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(r.host[slot]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[slot],
			BATCH_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		if (VARIANT == ADVICE)
			NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == TRAP)
			/* needed: TFS201 x1 stream 13 */
			NEED(cudaStreamSynchronize(r.stream));
	}
	rule_finish(&r);
	return 0;
}
