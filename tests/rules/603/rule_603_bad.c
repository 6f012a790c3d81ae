/* SPDX-License-Identifier: MIT */
/* TFS603: large products of floats on plain cores. The clean twin allows TF32, as the report
 * advises; the trap's products are as plain, but tiny: they would not be faster. Halves use tensor
 * cores without being asked. */
#include "tests/rules/rule_products.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

#define HALF 5

/* In another trap one matrix has few columns: the other one's bytes take as long as all there is to
 * compute. */
#ifndef THIN
#define THIN 0
#endif

enum { TINY = 64 };

static void multiply(const struct rule *r, const void *a, const void *b, void *c)
{
	const float one = 1, zero = 0;
	const int side = VARIANT == TRAP && !THIN ? TINY : SIDE;

	if (VARIANT == HALF) {
		NEED(cublasGemmEx(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, a,
			CUDA_R_16F, side, b, CUDA_R_16F, side, &zero, c, CUDA_R_16F, side,
			CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
		return;
	}
	/* expect: TFS603 x16 stream 13 2.4..5.3ms */
	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, side, THIN ? THIN : side, side, &one, a,
		side, b, side, &zero, c, side));
}

static void prepare(const struct rule *r)
{
	if (VARIANT == CLEAN)
		NEED(cublasSetMathMode(r->blas, CUBLAS_TF32_TENSOR_OP_MATH));
}

int main(void)
{
	rule_products(prepare, multiply);
	return 0;
}
