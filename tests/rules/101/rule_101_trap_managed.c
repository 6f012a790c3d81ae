/* SPDX-License-Identifier: MIT */
/* TFS101, a trap: batches come from managed memory, and from pinned memory by copies that leave
 * their direction to the runtime. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const size_t bytes = BATCH_FLOATS * sizeof(float);
	float *managed = NULL;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocManaged((void **)&managed, bytes, cudaMemAttachGlobal));
	rule_fill(managed, BATCH_FLOATS, 1e-3f);
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = step % SLOTS;

		NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(r.host[slot]);
		NEED(cudaMemcpyAsync(
			r.input[slot], r.host[slot], bytes, cudaMemcpyDefault, r.stream));
		NEED(cudaMemcpyAsync(r.input[slot], managed, bytes, cudaMemcpyDefault, r.stream));
		NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	NEED(cudaFree(managed));
	return 0;
}
