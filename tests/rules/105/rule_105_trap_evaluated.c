/* SPDX-License-Identifier: MIT */
/* TFS105: every fortieth step is followed by an evaluation, which copies another table to the
 * memory of the one that stays the same: that has to be copied anew then. */
#ifndef VARIANT
#define VARIANT TRAP
#endif
#include "tests/rules/rule_step.h"

enum { TABLE = WEIGHTS / 2, EACH = 40 };

static void evaluate(struct rule *r, unsigned step, float *device, const float *host)
{
	const float pull = 1e-4f;

	NEED(cudaMemcpyAsync(
		device, host, TABLE * sizeof(float), cudaMemcpyHostToDevice, r->stream));
	rule_forward(r, step);
	NEED(cublasSaxpy(r->blas, OUTPUTS * BATCH, &pull, device, 1, r->output, 1));
}

int main(void)
{
	const float pull = 1e-4f;
	float *host[2], *device;
	struct rule r;

	rule_init(&r);
	device = rule_alloc(TABLE);
	for (int i = 0; i < 2; i++) {
		NEED(cudaMallocHost((void **)&host[i], TABLE * sizeof(float)));
		rule_fill(host[i], TABLE, 1e-4f * (float)(i + 1));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		if (VARIANT == TRAP || !step || (VARIANT == ADVICE && step % EACH == 0))
			/* But behind an evaluation, 135 us each. */
			/* expect: TFS105 x0.97 125KiB stream 13 120..140us */
			NEED(cudaMemcpyAsync(device, host[0], TABLE * sizeof(float),
				cudaMemcpyHostToDevice, r.stream));
		NEED(cublasSaxpy(r.blas, TABLE, &pull, device, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (step % EACH == EACH - 1)
			evaluate(&r, step, device, host[1]);
	}
	rule_finish(&r);
	return 0;
}
