/* SPDX-License-Identifier: MIT */
/* TFS106: what gradients are masked by is all ones but in every fifth step: it is data. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PART = WEIGHTS / 4 };

static void mask(float *host, unsigned step)
{
	for (int i = 0; i < PART; i++)
		host[i] = step % 5 == 4 ? (float)((i + (int)step) % 3) : 1;
}

static __attribute__((noinline)) void upload(const struct rule *r, float *grad, const float *host)
{
	NEED(cudaMemcpyAsync(grad, host, PART * sizeof(float), cudaMemcpyHostToDevice, r->stream));
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
		mask(host, step);
		for (int i = 0; i < WEIGHTS; i += PART)
			upload(&r, r.grad + i, host);
		rule_backward(&r, step, 1);
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	free(host);
	return 0;
}
