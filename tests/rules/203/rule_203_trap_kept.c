/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: a step reads its weights twice, and between the two a kernel changes them whose
 * pointer is a variable of the device's. The second reading is another one. */
#include "tests/rules/rule_kernels.h"

static float weights[WEIGHTS];

int main(void)
{
	int n = WEIGHTS;
	void *args[] = {&n}, *where[2];
	const enum cudaMemcpyKind down = cudaMemcpyDeviceToHost;
	const size_t bytes = sizeof(weights);
	double before = 0, after = 0;
	cudaKernel_t add;
	struct rule r;

	rule_init(&r);
	add = rule_kernel("add_kept");
	where[0] = &r.weight;
	rule_launch(&r, rule_kernel("keep"), 1, where);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		/* Either is hidden behind what the device does meanwhile. */
		/* unmeasured: TFS203 */
		/* expect: TFS101 x1 256KiB legacy 0us TFS202 x1 256KiB legacy 0us */
		NEED(cudaMemcpy(weights, r.weight, bytes, down));
		before += (double)weights[0];
		rule_launch(&r, add, WEIGHTS, args);
		/* expect: TFS101 x1 256KiB legacy 0us TFS202 x1 256KiB legacy 0us */
		NEED(cudaMemcpy(weights, r.weight, bytes, down));
		after += (double)weights[0];
		rule_update(&r);
	}
	rule_finish(&r);
	printf("%g %g\n", before, after);
	return 0;
}
