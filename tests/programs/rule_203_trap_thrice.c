/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: large, and read at three places of a step that are each innocent: what they read
 * is the same. */
#include "tests/programs/rule_step.h"

static float host[OUTPUTS * BATCH];

int main(void)
{
	const enum cudaMemcpyKind down = cudaMemcpyDeviceToHost;
	const size_t bytes = sizeof(host);
	double loss = 0, right = 0, norm = 0;
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		/* expect: TFS202 x1 64KiB legacy 0us */
		/* expect: TFS203 x1 64KiB legacy 0us */
		NEED(cudaMemcpy(host, r.output, bytes, down));
		loss += (double)host[0];
		/* expect: TFS202 x1 64KiB legacy 0us */
		/* expect: TFS203 x1 64KiB legacy 0us */
		NEED(cudaMemcpy(host, r.output, bytes, down));
		right += (double)host[1];
		/* expect: TFS202 x1 64KiB legacy 0us */
		/* expect: TFS203 x1 64KiB legacy 0us */
		NEED(cudaMemcpy(host, r.output, bytes, down));
		norm += (double)host[2];
		rule_update(&r);
	}
	rule_finish(&r);
	printf("%g %g %g\n", loss, right, norm);
	return 0;
}
