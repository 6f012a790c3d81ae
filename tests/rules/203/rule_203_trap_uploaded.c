/* SPDX-License-Identifier: MIT */
/* TFS203, no trap: large, and read once in a step; but the host itself has put it there. As
 * advised, the host looks at what it uploaded. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

static const size_t bytes = BATCH_FLOATS * sizeof(float);
static float host[BATCH_FLOATS];

/* Behind the update, as the copy waits for it: 895 us of copying, and 2 ms of the next step's
 * preparing that are under no work of the device's. */
static void look(struct rule *r, unsigned step)
{
	const enum cudaMemcpyKind down = cudaMemcpyDeviceToHost;

	if (VARIANT == TRAP)
		/* expect: TFS101 x1 256KiB legacy 2.7..3.2ms TFS202 x1 256KiB legacy 2.7..3.2ms */
		/* expect: TFS203 x1 256KiB legacy 2.7..3.2ms */
		NEED(cudaMemcpy(host, r->input[step % SLOTS], bytes, down));
	rule_see(VARIANT == ADVICE ? r->host[step % SLOTS] : host, BATCH_FLOATS);
}

int main(void)
{
	struct rule r;

	rule_init(&r);
	/* One that the copy waits for. */
	NEED(cudaStreamCreate(&r.stream));
	NEED(cublasSetStream(r.blas, r.stream));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		look(&r, step);
	}
	rule_finish(&r);
	return 0;
}
