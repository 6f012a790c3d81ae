/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: between the zeroing and the product that adds to it, a product of a list of
 * matrices does. The list lies on the device; which memory it names is not recorded. */
#include "tests/rules/rule_step.h"

static void put(float ***list, float *const matrix)
{
	NEED(cudaMalloc((void **)list, sizeof(**list)));
	NEED(cudaMemcpy(*list, &matrix, sizeof(matrix), cudaMemcpyHostToDevice));
}

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	const float scale = 1.0f / BATCH, one = 1;
	float **inputs[SLOTS], **outputs, **grads;
	struct rule r;

	rule_init(&r);
	for (int i = 0; i < SLOTS; i++)
		put(&inputs[i], r.input[i]);
	put(&outputs, r.output);
	put(&grads, r.grad);
	NEED(cudaDeviceSynchronize());
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemsetAsync(r.grad, 0, bytes, r.stream)); /* unmeasured: TFS402 */
		rule_forward(&r, step);
		NEED(cublasSgemmBatched(r.blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH,
			&scale, (const float *const *)inputs[step % SLOTS], INPUTS,
			(const float *const *)outputs, OUTPUTS, &one, grads, INPUTS, 1));
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
