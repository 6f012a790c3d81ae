/* SPDX-License-Identifier: MIT */
/* Products and vectors of cuBLAS's and cuBLASLt's, each once, whose operands differ in size. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "tests/test.h"

#define BYTES (1 << 20)

static cublasHandle_t blas;
static void *a, *b, *c;

static void multiply(void)
{
	const float one = 1, zero = 0;
	const double two = 2, half = 0.5;

	TEST_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 5, 7, 3, &one, a, 6, b, 4, &zero, c, 8),
		0);
	TEST_EQ(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_T, 5, 7, 3, &one, a, 4, b, 9, &one, c, 5),
		0);
	TEST_EQ(cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, 5, 7, 3, &two, a, 6, b, 8, &half, c, 9),
		0);
	TEST_EQ(cublasSgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, 5, 7, 3, &one, a, 6, 100,
			b, 3, 200, &zero, c, 5, 300, 4),
		0);
	TEST_EQ(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 16, &one, a, CUDA_R_16F, 8, b,
			CUDA_R_16F, 16, &zero, c, CUDA_R_32F, 10, CUBLAS_COMPUTE_32F,
			CUBLAS_GEMM_DEFAULT),
		0);
	TEST_EQ(cublasSgemv(blas, CUBLAS_OP_N, 6, 10, &one, a, 8, b, 1, &zero, c, 1), 0);
	TEST_EQ(cublasSgemv(blas, CUBLAS_OP_T, 6, 10, &one, a, 8, b, 1, &one, c, 1), 0);
}

static void go_through(void)
{
	const float scale = 3;
	const double wide = 3;
	float result;

	TEST_EQ(cublasSaxpy(blas, 10, &scale, a, 2, b, 3), 0);
	TEST_EQ(cublasDscal(blas, 10, &wide, a, 4), 0);
	TEST_EQ(cublasScopy(blas, 11, a, 1, c, 1), 0);
	TEST_EQ(cublasSnrm2(blas, 12, a, 2, &result), 0);
	TEST_EQ(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE), 0);
	TEST_EQ(cublasSdot(blas, 10, a, 1, b, 2, c), 0);
}

static cublasLtMatrixLayout_t layout(uint64_t rows, uint64_t columns, int64_t leading,
	int32_t order, int32_t batch, int64_t stride)
{
	cublasLtMatrixLayout_t made;

	TEST_NEED(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, rows, columns, leading) == 0);
	TEST_EQ(cublasLtMatrixLayoutSetAttribute(
			made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)),
		0);
	TEST_EQ(cublasLtMatrixLayoutSetAttribute(
			made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)),
		0);
	TEST_EQ(cublasLtMatrixLayoutSetAttribute(
			made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
		0);
	return made;
}

static void multiply_lt(int32_t order, int64_t la, int64_t lb, int64_t lc, int32_t batch)
{
	const float one = 1, zero = 0;
	cublasLtMatrixLayout_t of_a = layout(5, 3, la, order, batch, 100),
			       of_b = layout(3, 7, lb, order, batch, 200),
			       of_c = layout(5, 7, lc, order, batch, 300);
	cublasLtMatmulDesc_t product;
	cublasLtHandle_t lt;

	TEST_EQ(cublasLtCreate(&lt), 0);
	TEST_EQ(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	TEST_EQ(cublasLtMatmul(lt, product, &one, a, of_a, b, of_b, &zero, c, of_c, c, of_c, NULL,
			NULL, 0, 0),
		0);
	cublasLtMatmulDescDestroy(product);
	cublasLtMatrixLayoutDestroy(of_a);
	cublasLtMatrixLayoutDestroy(of_b);
	cublasLtMatrixLayoutDestroy(of_c);
	cublasLtDestroy(lt);
}

int main(void)
{
	TEST_NEED(cudaMalloc(&a, BYTES) == 0 && cudaMalloc(&b, BYTES) == 0 &&
		  cudaMalloc(&c, BYTES) == 0 && cublasCreate(&blas) == 0);
	TEST_EQ(cudaMemset(a, 0, BYTES) + cudaMemset(b, 0, BYTES) + cudaMemset(c, 0, BYTES), 0);
	multiply();
	go_through();
	multiply_lt(CUBLASLT_ORDER_COL, 6, 4, 9, 1);
	multiply_lt(CUBLASLT_ORDER_ROW, 4, 8, 9, 1);
	multiply_lt(CUBLASLT_ORDER_COL, 5, 3, 5, 2);
	TEST_EQ(cudaDeviceSynchronize(), 0);
	return test_result();
}
