/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

static bool double_compute(cublasComputeType_t compute)
{
	return compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
}

/* Accumulation in float; operands may be shortened first where the caller asked for speed. */
static cublasStatus_t float_compute(
	cublasHandle_t handle, cublasComputeType_t compute, struct tfs_blas_op *o)
{
	bool tf32 =
		compute == CUBLAS_COMPUTE_32F && (handle->math & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH;

	if (!tfs_typed_math(o->in_type, compute, &o->math))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (tf32 && o->math == TFSIM_SINGLE)
		o->math = TFSIM_TENSOR;
	o->tf32 = tf32 || (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC);
	return CUBLAS_STATUS_SUCCESS;
}

/* The types of an Ex call: all double, or float, half and bfloat16 with float accumulation. */
static cublasStatus_t types(cublasHandle_t handle, cudaDataType a, cudaDataType b, cudaDataType c,
	cublasComputeType_t compute, struct tfs_blas_op *o)
{
	if (a != b)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (a == CUDA_R_64F) {
		o->wide = true;
		return c == a && double_compute(compute) ? CUBLAS_STATUS_SUCCESS
							 : CUBLAS_STATUS_NOT_SUPPORTED;
	}
	if (!tfs_typed_size(a) || (c != a && c != CUDA_R_32F))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	o->mixed = a != CUDA_R_32F;
	o->in_type = a;
	o->out_type = c;
	return float_compute(handle, compute, o);
}

struct shape {
	cublasOperation_t ta, tb;
	int m, n, k, lda, ldb, ldc, batch;
};

static cublasStatus_t begin(cublasHandle_t handle, const struct shape *s, const void *alpha,
	const void *beta, struct tfs_blas_op *o)
{
	if (!alpha || !beta)
		return CUBLAS_STATUS_INVALID_VALUE;
	o->ta = s->ta;
	o->tb = s->tb;
	o->m = s->m;
	o->n = s->n;
	o->k = s->k;
	o->lda = s->lda;
	o->ldb = s->ldb;
	o->ldc = s->ldc;
	o->batch = s->batch;
	o->alpha = tfs_blas_scalar(handle, o->wide, alpha);
	o->beta = tfs_blas_scalar(handle, o->wide, beta);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
	cublasOperation_t transb, int m, int n, int k, const void *alpha, const void *A,
	cudaDataType Atype, int lda, const void *B, cudaDataType Btype, int ldb, const void *beta,
	void *C, cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
	cublasGemmAlgo_t algo)
{
	return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0,
		B, Btype, ldb, 0, beta, C, Ctype, ldc, 0, 1, computeType, algo);
}

TFS_BLAS_API cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
	cublasOperation_t transb, int m, int n, int k, const float *alpha, const void *A,
	cudaDataType Atype, int lda, const void *B, cudaDataType Btype, int ldb, const float *beta,
	void *C, cudaDataType Ctype, int ldc)
{
	if (handle && Atype == CUDA_R_64F)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb,
		beta, C, Ctype, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

TFS_BLAS_API cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle,
	cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void *alpha,
	const void *A, cudaDataType Atype, int lda, long long int strideA, const void *B,
	cudaDataType Btype, int ldb, long long int strideB, const void *beta, void *C,
	cudaDataType Ctype, int ldc, long long int strideC, int batchCount,
	cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
	struct shape s = {transa, transb, m, n, k, lda, ldb, ldc, batchCount};
	struct tfs_blas_op o = {.a = A, .b = B, .c = C};
	cublasStatus_t rc;

	(void)algo;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	rc = types(handle, Atype, Btype, Ctype, computeType, &o);
	if (!rc)
		rc = begin(handle, &s, alpha, beta, &o);
	if (rc)
		return rc;
	o.stride_a = strideA;
	o.stride_b = strideB;
	o.stride_c = strideC;
	return tfs_blas_gemm_submit(handle, &o);
}

TFS_BLAS_API cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
	cublasOperation_t transb, int m, int n, int k, const void *alpha,
	const void *const Aarray[], cudaDataType Atype, int lda, const void *const Barray[],
	cudaDataType Btype, int ldb, const void *beta, void *const Carray[], cudaDataType Ctype,
	int ldc, int batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
	struct shape s = {transa, transb, m, n, k, lda, ldb, ldc, batchCount};
	struct tfs_blas_op o = {.a = Aarray, .b = Barray, .c = (void *)Carray, .pointers = true};
	cublasStatus_t rc;

	(void)algo;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	rc = types(handle, Atype, Btype, Ctype, computeType, &o);
	if (!rc)
		rc = begin(handle, &s, alpha, beta, &o);
	return rc ? rc : tfs_blas_gemm_submit(handle, &o);
}
