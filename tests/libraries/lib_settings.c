/* SPDX-License-Identifier: MIT */
/* Handles of cuBLAS, and descriptors and algorithms of cuBLASLt, tell what they were given. */
#include <cublasLt.h>
#include <cublas_v2.h>

#include "tests/libraries/lib_check.h"

enum { M = 64, N = 32, K = 96 };

static void check_handle(void)
{
	int version = 0, major = 0, minor = 0, patch = 0, count = 99;
	cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_ALLOWED;
	cublasPointerMode_t mode = CUBLAS_POINTER_MODE_DEVICE;
	cublasMath_t math = CUBLAS_PEDANTIC_MATH;
	cudaStream_t stream, got = NULL;
	cublasHandle_t blas;

	LIB_EQ(cudaStreamCreate(&stream), 0);
	if (!LIB_EQ(cublasCreate(&blas), 0))
		return;
	LIB_EQ(cublasGetPointerMode(blas, &mode), 0);
	LIB_EQ(mode, CUBLAS_POINTER_MODE_HOST);
	LIB_EQ(cublasGetAtomicsMode(blas, &atomics), 0);
	LIB_EQ(atomics, CUBLAS_ATOMICS_NOT_ALLOWED);
	LIB_EQ(cublasGetMathMode(blas, &math), 0);
	LIB_EQ(math, CUBLAS_DEFAULT_MATH);
	LIB_EQ(cublasGetSmCountTarget(blas, &count), 0);
	LIB_EQ(count, 0);
	LIB_EQ(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE), 0);
	LIB_EQ(cublasSetAtomicsMode(blas, CUBLAS_ATOMICS_ALLOWED), 0);
	LIB_EQ(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH), 0);
	LIB_EQ(cublasSetSmCountTarget(blas, 4), 0);
	LIB_EQ(cublasSetStream(blas, stream), 0);
	LIB_EQ(cublasGetPointerMode(blas, &mode), 0);
	LIB_EQ(cublasGetAtomicsMode(blas, &atomics), 0);
	LIB_EQ(cublasGetMathMode(blas, &math), 0);
	LIB_EQ(cublasGetSmCountTarget(blas, &count), 0);
	LIB_EQ(cublasGetStream(blas, &got), 0);
	LIB_TRUE(mode == CUBLAS_POINTER_MODE_DEVICE && atomics == CUBLAS_ATOMICS_ALLOWED);
	LIB_TRUE(math == CUBLAS_TF32_TENSOR_OP_MATH && count == 4 && got == stream);
	LIB_EQ(cublasGetVersion(blas, &version), 0);
	LIB_EQ(cublasGetProperty(MAJOR_VERSION, &major), 0);
	LIB_EQ(cublasGetProperty(MINOR_VERSION, &minor), 0);
	LIB_EQ(cublasGetProperty(PATCH_LEVEL, &patch), 0);
	LIB_EQ(version, major * 10000 + minor * 100 + patch);
	LIB_EQ(cublasDestroy(blas), 0);
	LIB_EQ(cudaStreamDestroy(stream), 0);
}

/* A size is asked for without room; there must be enough of it for an answer. */
static void check_operation(cublasLtMatmulDesc_t op)
{
	cublasOperation_t transposed = CUBLAS_OP_T, got = CUBLAS_OP_N;
	cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU;
	cublasComputeType_t compute = CUBLAS_COMPUTE_64F;
	size_t written = 0;
	void *bias;

	LIB_EQ(cublasLtMatmulDescGetAttribute(
		       op, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute, sizeof(compute), &written),
		0);
	LIB_TRUE(compute == CUBLAS_COMPUTE_32F && written == sizeof(compute));
	LIB_EQ(cublasLtMatmulDescGetAttribute(
		       op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue), &written),
		0);
	LIB_EQ(epilogue, CUBLASLT_EPILOGUE_DEFAULT);
	LIB_EQ(cublasLtMatmulDescSetAttribute(
		       op, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, sizeof(transposed)),
		0);
	LIB_EQ(cublasLtMatmulDescGetAttribute(
		       op, CUBLASLT_MATMUL_DESC_TRANSB, &got, sizeof(got), NULL),
		0);
	LIB_EQ(got, CUBLAS_OP_T);
	LIB_EQ(cublasLtMatmulDescGetAttribute(
		       op, CUBLASLT_MATMUL_DESC_TRANSA, &got, sizeof(got), NULL),
		0);
	LIB_EQ(got, CUBLAS_OP_N);
	written = 0;
	LIB_EQ(cublasLtMatmulDescGetAttribute(
		       op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, NULL, 0, &written),
		0);
	LIB_EQ(written, sizeof(void *));
	LIB_EQ(cublasLtMatmulDescGetAttribute(
		       op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias) / 2, NULL),
		CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, 2),
		CUBLAS_STATUS_INVALID_VALUE);
}

static uint64_t layout_of(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t name)
{
	uint64_t value = 0;

	LIB_EQ(cublasLtMatrixLayoutGetAttribute(l, name, &value, sizeof(value), NULL), 0);
	return value;
}

static void check_layout(cublasLtMatrixLayout_t l)
{
	const int32_t batch = 3;
	const int64_t stride = 2 * M * K;

	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_TYPE), CUDA_R_32F);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_ROWS), M);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_COLS), K);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_LD), M + 1);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_ORDER), CUBLASLT_ORDER_COL);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 1);
	LIB_EQ(cublasLtMatrixLayoutSetAttribute(
		       l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)),
		0);
	LIB_EQ(cublasLtMatrixLayoutSetAttribute(
		       l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
		0);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), batch);
	LIB_EQ(layout_of(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET), stride);
}

static void check_preference(void)
{
	uint64_t limit = 1 << 20, got = 99;
	cublasLtMatmulPreference_t p;

	LIB_EQ(cublasLtMatmulPreferenceCreate(&p), 0);
	LIB_EQ(cublasLtMatmulPreferenceGetAttribute(
		       p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &got, sizeof(got), NULL),
		0);
	LIB_EQ(got, 0);
	LIB_EQ(cublasLtMatmulPreferenceSetAttribute(
		       p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof(limit)),
		0);
	LIB_EQ(cublasLtMatmulPreferenceGetAttribute(
		       p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &got, sizeof(got), NULL),
		0);
	LIB_EQ(got, limit);
	LIB_EQ(cublasLtMatmulPreferenceDestroy(p), 0);
}

/* An algorithm of the heuristic needs the same room when it is checked; numbers name algorithms. */
static void check_algorithms(cublasLtHandle_t lt, cublasLtMatmulDesc_t op)
{
	cublasLtMatrixLayout_t a, b, c, wrong;
	cublasLtMatmulHeuristicResult_t found[8], checked;
	cublasLtMatmulPreference_t preference;
	uint64_t limit = 32 << 20;
	cublasLtMatmulAlgo_t algo;
	int n = 0, ids[8];

	LIB_EQ(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, M, K, M), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, N, K, N), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, M, N, M), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&wrong, CUDA_R_32F, M, N + 1, M), 0);
	LIB_EQ(cublasLtMatmulPreferenceCreate(&preference), 0);
	LIB_EQ(cublasLtMatmulPreferenceSetAttribute(
		       preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof(limit)),
		0);
	LIB_EQ(cublasLtMatmulAlgoGetHeuristic(lt, op, a, b, c, c, preference, 8, found, &n), 0);
	LIB_TRUE(n >= 1);
	for (int i = 0; i < n; i++) {
		LIB_EQ(found[i].state, CUBLAS_STATUS_SUCCESS);
		LIB_EQ(cublasLtMatmulAlgoCheck(lt, op, a, b, c, c, &found[i].algo, &checked), 0);
		LIB_EQ(checked.state, CUBLAS_STATUS_SUCCESS);
		LIB_EQ(checked.workspaceSize, found[i].workspaceSize);
		LIB_EQ(cublasLtMatmulAlgoCheck(
			       lt, op, a, b, wrong, wrong, &found[i].algo, &checked) != 0,
			1);
	}
	n = 0;
	LIB_EQ(cublasLtMatmulAlgoGetIds(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
		       CUDA_R_32F, CUDA_R_32F, 8, ids, &n),
		0);
	LIB_TRUE(n >= 1 && n <= 8);
	for (int i = 0; i < n; i++)
		LIB_EQ(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F,
			       CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, ids[i], &algo),
			0);
	LIB_EQ(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
		       CUDA_R_32F, CUDA_R_32F, -1, &algo),
		CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasLtMatmulPreferenceDestroy(preference), 0);
	LIB_EQ(cublasLtMatrixLayoutDestroy(a), 0);
	LIB_EQ(cublasLtMatrixLayoutDestroy(b), 0);
	LIB_EQ(cublasLtMatrixLayoutDestroy(c), 0);
	LIB_EQ(cublasLtMatrixLayoutDestroy(wrong), 0);
}

int main(void)
{
	cublasLtMatrixLayout_t layout;
	cublasLtMatmulDesc_t op;
	cublasLtHandle_t lt;

	check_handle();
	if (!LIB_EQ(cublasLtCreate(&lt), 0))
		return lib_result();
	LIB_EQ(cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, M, K, M + 1), 0);
	check_operation(op);
	check_layout(layout);
	check_preference();
	check_algorithms(lt, op);
	LIB_EQ(cublasLtMatrixLayoutDestroy(layout), 0);
	LIB_EQ(cublasLtMatmulDescDestroy(op), 0);
	LIB_EQ(cublasLtDestroy(lt), 0);
	return lib_result();
}
