/* SPDX-License-Identifier: MIT */
/* TFS404: what is kept for the backward pass takes 93 % of the device's memory. The clean twin
 * keeps half of it, as if half of the batch; the trap allocates as much before it trains, and frees
 * it. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

int main(void)
{
	struct rule r;

	rule_init(&r);
	if (VARIANT == TRAP)
		NEED(cudaFree(rule_take(93)));
	void *kept = rule_take(VARIANT == BAD ? 93 : 46);

	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(cudaMemcpyAsync(kept, r.output, OUTPUTS * BATCH * sizeof(float),
			cudaMemcpyDeviceToDevice, r.stream));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	NEED(cudaDeviceSynchronize());
	NEED(cudaFree(kept));
	rule_finish(&r);
	return 0;
}
