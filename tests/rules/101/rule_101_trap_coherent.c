/* SPDX-License-Identifier: MIT */
/* TFS101, a trap: batches come from malloc'd memory, on a system whose device reads that itself. On
 * any other system the batches are pinned. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const size_t bytes = BATCH_FLOATS * sizeof(float);
	float *images = malloc(bytes);
	int coherent = 0;
	struct rule r;

	if (!images || setenv("TFSIM_COHERENT", "1", 1))
		return 1;
	rule_init(&r);
	NEED(cudaDeviceGetAttribute(
		&coherent, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0));
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = step % SLOTS;
		float *batch = coherent ? images : r.host[slot];

		NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(batch);
		NEED(cudaMemcpyAsync(/* trap: TFS101 */ r.input[slot], batch, bytes,
			cudaMemcpyHostToDevice, r.stream));
		NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	free(images);
	return 0;
}
