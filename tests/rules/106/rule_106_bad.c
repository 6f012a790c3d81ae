/* SPDX-License-Identifier: MIT */
/* TFS106: what two halves of the gradient are added to is cleared by zeros from the host. The clean
 * twin fills it on the device; what the trap copies has one other number among its zeros. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { PART = WEIGHTS / 4 };

static __attribute__((noinline)) void clear(const struct rule *r, float *grad, const float *host)
{
	if (VARIANT == CLEAN)
		NEED(cudaMemsetAsync(grad, 0, PART * sizeof(float), r->stream));
	else
		/* From pageable memory 246.3 us each on the device, where filling takes 95.5. */
		/* unsure: TFS106 x4 256KiB stream 13 0..1206us */
		NEED(cudaMemcpyAsync(
			grad, host, PART * sizeof(float), cudaMemcpyHostToDevice, r->stream));
}

int main(void)
{
	float *host = calloc(PART, sizeof(*host));
	struct rule r;

	if (!host)
		return 1;
	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		if (VARIANT == TRAP)
			host[PART / 2 + 7] = 1e-6f * (float)step;
		for (int i = 0; i < WEIGHTS; i += PART)
			clear(&r, r.grad + i, host);
		rule_backward(&r, step, 1);
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	free(host);
	return 0;
}
