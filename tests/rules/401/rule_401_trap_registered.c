/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: memory that is pinned and released from it in each step, without any being
 * allocated. Pinning costs more than allocating, and the end of it waits. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

int main(void)
{
	const size_t bytes = BATCH_FLOATS * sizeof(float);
	struct rule r;
	float *images[SLOTS];

	rule_init(&r);
	for (int i = 0; i < SLOTS; i++) {
		images[i] = aligned_alloc(4096, bytes);
		if (VARIANT != TRAP)
			NEED(cudaHostRegister(images[i], bytes, 0));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = VARIANT == ADVICE ? step % SLOTS : 0;

		if (VARIANT == ADVICE)
			NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(images[slot]);
		if (VARIANT == TRAP)
			/* expect: TFS401 x1 256KiB 0us */
			NEED(cudaHostRegister(images[slot], bytes, 0));
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], images[slot], bytes,
			cudaMemcpyHostToDevice, r.stream));
		NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == TRAP)
			/* expect: TFS401 x1 256KiB 1.82..2.34ms */
			/* note: TFS202 x1 256KiB 1.82..2.34ms */
			NEED(cudaHostUnregister(images[slot]));
	}
	rule_finish(&r);
	for (int i = 0; i < SLOTS; i++)
		free(images[i]);
	return 0;
}
