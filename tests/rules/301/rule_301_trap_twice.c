/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: two elementwise kernels in place behind each other, between which the values are
 * read back. In one pass the first result would never be there to be read. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	const dim3 grid = {WEIGHTS / 256, 1, 1}, block = {256, 1, 1};
	const void *halve;
	float *kept;
	struct rule r;
	int n = WEIGHTS;

	rule_init(&r);
	halve = (const void *)exchange_kernel("halve");
	kept = rule_alloc(WEIGHTS);
	for (unsigned step = 0; step < STEPS; step++) {
		void *args[] = {&r.grad, &n};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaLaunchKernel(halve, grid, block, args, 0, r.stream));
		NEED(cudaMemcpyAsync(
			kept, r.grad, WEIGHTS * sizeof(float), cudaMemcpyDeviceToDevice, r.stream));
		NEED(cudaLaunchKernel(halve, grid, block, args, 0, r.stream));
		NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, INPUTS / 4, OUTPUTS,
			(const float[]){1e-3f}, r.grad, INPUTS, kept, INPUTS, (const float[]){0},
			r.grad, INPUTS));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
