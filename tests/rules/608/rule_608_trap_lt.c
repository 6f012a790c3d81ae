/* SPDX-License-Identifier: MIT */
/* TFS608, no trap: the descriptors of a product, and the layouts of its matrices, anew in each
 * step. Setting what a descriptor has passes. */
#include <cublasLt.h>

#include "tests/rules/rule_step.h"

static void multiply(struct rule *r, cublasLtHandle_t lt, unsigned step)
{
	const int32_t transposed = CUBLAS_OP_T;
	const float one = 1, zero = 0;
	cublasLtMatrixLayout_t weight, input, output;
	cublasLtMatmulDesc_t product;

	NEED(cublasLtMatmulDescCreate(/* expect: TFS608 x1 0us */
		&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	NEED(cublasLtMatmulDescSetAttribute(
		product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)));
	NEED(cublasLtMatrixLayoutCreate(/* expect: TFS608 x1 0us */
		&weight, CUDA_R_32F, INPUTS, OUTPUTS, INPUTS));
	NEED(cublasLtMatrixLayoutCreate(/* expect: TFS608 x1 0us */
		&input, CUDA_R_32F, INPUTS, BATCH, INPUTS));
	NEED(cublasLtMatrixLayoutCreate(/* expect: TFS608 x1 0us */
		&output, CUDA_R_32F, OUTPUTS, BATCH, OUTPUTS));
	NEED(cublasLtMatmul(lt, product, &one, r->weight, weight, r->input[step % SLOTS], input,
		&zero, r->output, output, r->output, output, NULL, NULL, 0, r->stream));
	NEED(cublasLtMatrixLayoutDestroy(output)); /* expect: TFS608 x1 0us */
	NEED(cublasLtMatrixLayoutDestroy(input));  /* expect: TFS608 x1 0us */
	NEED(cublasLtMatrixLayoutDestroy(weight)); /* expect: TFS608 x1 0us */
	NEED(cublasLtMatmulDescDestroy(product));  /* expect: TFS608 x1 0us */
}

int main(void)
{
	cublasLtHandle_t lt;
	struct rule r;

	rule_init(&r);
	NEED(cublasLtCreate(&lt));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		multiply(&r, lt, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	NEED(cublasLtDestroy(lt));
	return 0;
}
