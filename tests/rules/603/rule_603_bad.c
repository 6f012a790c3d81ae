/* SPDX-License-Identifier: MIT */
/* TFS603: large products of floats on plain cores. The clean twin allows TF32, as the report
 * advises; the trap's products are as plain, but tiny: they would not be faster. Halves use tensor
 * cores without being asked. On the profile h100, whose tensor cores are faster than its others. */
#include "tests/rules/rule_step.h"

#include <cuda_fp16.h>

#ifndef VARIANT
#define VARIANT BAD
#endif

#define HALF 5

enum { SIDE = 2048, TINY = 64, PRODUCTS = 16 };

static void multiply(const struct rule *r, const void *a, const void *b, void *c)
{
	const float one = 1, zero = 0;
	const int side = VARIANT == TRAP ? TINY : SIDE;

	if (VARIANT == HALF) {
		NEED(cublasGemmEx(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, a,
			CUDA_R_16F, side, b, CUDA_R_16F, side, &zero, c, CUDA_R_16F, side,
			CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
		return;
	}
	/* expect: TFS603 x16 stream 13 2.4..5.3ms */
	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, a, side, b,
		side, &zero, c, side));
}

int main(void)
{
	cudaEvent_t done[SLOTS];
	float *a, *b, *c;
	struct rule r;

	rule_init(&r);
	if (VARIANT == CLEAN)
		NEED(cublasSetMathMode(r.blas, CUBLAS_TF32_TENSOR_OP_MATH));
	a = rule_alloc((size_t)SIDE * SIDE);
	b = rule_alloc((size_t)SIDE * SIDE);
	c = rule_alloc((size_t)SIDE * SIDE);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		for (unsigned i = 0; i < PRODUCTS; i++)
			multiply(&r, a, b, c);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
	return 0;
}
