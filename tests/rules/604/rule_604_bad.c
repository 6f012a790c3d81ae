/* SPDX-License-Identifier: MIT */
/* TFS604: products of halves with 2,047 rows, whose columns lie 2,047 halves apart. The clean twin
 * pads the columns, as the report advises; the trap's matrices have 2,047 columns, which start
 * where they should; floats on plain cores are not loaded by 16 bytes anyway. On the profile h100.
 */
#include "tests/rules/rule_products.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

#define PLAIN 5

enum { ODD = 2047 };

static void multiply(const struct rule *r, const void *a, const void *b, void *c)
{
	const float one = 1, zero = 0;
	const int rows = VARIANT == TRAP ? SIDE : ODD;
	const int leading = VARIANT == BAD || VARIANT == PLAIN ? ODD : SIDE;

	if (VARIANT == PLAIN) {
		NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, rows, ODD, rows, &one, a,
			leading, b, leading, &zero, c, leading));
		return;
	}
	/* expect: TFS604 x16 stream 13 0..2.4ms */
	NEED(cublasGemmEx(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, rows, ODD, rows, &one, a, CUDA_R_16F,
		leading, b, CUDA_R_16F, leading, &zero, c, CUDA_R_16F, leading, CUBLAS_COMPUTE_32F,
		CUBLAS_GEMM_DEFAULT));
}

int main(void)
{
	rule_products(NULL, multiply);
	return 0;
}
