/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: between the zeroing and the product that adds to it, a kernel adds to the
 * gradient too. Its pointer is in a struct on the device. */
#include "tests/rules/rule_kernels.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	cudaKernel_t add;
	struct rule r;
	struct rule_sum sum, *nested;
	void *args[] = {&nested};

	rule_init(&r);
	add = rule_kernel("add_nested");
	sum = (struct rule_sum){r.grad, WEIGHTS, 1e-6f};
	NEED(cudaMalloc((void **)&nested, sizeof(*nested)));
	NEED(cudaMemcpy(nested, &sum, sizeof(sum), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemsetAsync(r.grad, 0, bytes, r.stream)); /* unmeasured: TFS402 */
		rule_forward(&r, step);
		rule_launch(&r, add, WEIGHTS, args);
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
