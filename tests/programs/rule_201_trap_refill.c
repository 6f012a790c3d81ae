/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: one pinned buffer, filled again for each batch. Without the wait at the end of
 * the step the host would fill it while it is still being copied: a note, with what to do first. */
#include "tests/programs/rule_step.h"

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_prepare(r.host[0]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[0], BATCH_FLOATS * sizeof(float),
			cudaMemcpyHostToDevice, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaStreamSynchronize(r.stream)); /* needed: TFS201 */
	}
	rule_finish(&r);
	return 0;
}
