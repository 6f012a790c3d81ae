/* SPDX-License-Identifier: MIT */
/* TFS401, a trap: memory that is pinned and released from it in each step, without any being
 * allocated. Pinning costs more than allocating, and the end of it waits. */
#include "tests/programs/rule_step.h"

int main(void)
{
	const size_t bytes = BATCH_FLOATS * sizeof(float);
	struct rule r;
	float *images;

	rule_init(&r);
	images = aligned_alloc(4096, bytes);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_prepare(images);
		NEED(cudaHostRegister(images, bytes, 0)); /* expect: TFS401 */
		NEED(cudaMemcpyAsync(
			r.input[step % SLOTS], images, bytes, cudaMemcpyHostToDevice, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaHostUnregister(images)); /* expect: TFS401 */ /* note: TFS202 */
	}
	rule_finish(&r);
	free(images);
	return 0;
}
