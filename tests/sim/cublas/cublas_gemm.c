/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

#define LONG_SUM 256
#define PARTS 4
#define LEAST_WORKSPACE ((size_t)16 << 10)

static const char *const names[2][2][2] = {
	{{"tfsim_sgemm_nn", "tfsim_sgemm_nt"}, {"tfsim_sgemm_tn", "tfsim_sgemm_tt"}},
	{{"tfsim_dgemm_nn", "tfsim_dgemm_nt"}, {"tfsim_dgemm_tn", "tfsim_dgemm_tt"}},
};

/* As cuBLAS's say it: on plain cores, on tensor cores. */
static const char *const names_by_cores[2][2][2] = {
	{{"tfsim_simt_sgemm_nn", "tfsim_simt_sgemm_nt"},
		{"tfsim_simt_sgemm_tn", "tfsim_simt_sgemm_tt"}},
	{{"tfsim_tensorop_gemm_nn", "tfsim_tensorop_gemm_nt"},
		{"tfsim_tensorop_gemm_tn", "tfsim_tensorop_gemm_tt"}},
};

static bool known(cublasOperation_t t)
{
	return t == CUBLAS_OP_N || t == CUBLAS_OP_T || t == CUBLAS_OP_C;
}

static bool valid(const struct tfs_blas_op *o)
{
	int ar = o->ta == CUBLAS_OP_N ? o->m : o->k;
	int br = o->tb == CUBLAS_OP_N ? o->k : o->n;

	return known(o->ta) && known(o->tb) && o->m >= 0 && o->n >= 0 && o->k >= 0 &&
	       o->batch >= 0 && o->lda >= (ar > 1 ? ar : 1) && o->ldb >= (br > 1 ? br : 1) &&
	       o->ldc >= (o->m > 1 ? o->m : 1);
}

/*
 * Long sums into few elements are taken in parts, if there is room for them. Documented: with less
 * than 16 KiB some routines fail, with more they only become slower.
 */
static bool split(cublasHandle_t handle, struct tfs_blas_op *o)
{
	if (o->batch != 1 || o->k < LONG_SUM || (int64_t)o->k < 4 * ((int64_t)o->m + o->n) ||
		!tfsim_workspace_used())
		return true;
	o->parts = PARTS;
	if (tfs_blas_needed(o) <= handle->workspace_bytes)
		return true;
	o->parts = 1;
	return handle->workspace_bytes >= LEAST_WORKSPACE;
}

/* What divides all addresses and distances of columns, in bytes. */
static uint64_t placed(const struct tfs_blas_op *o)
{
	const uint64_t in = o->mixed ? tfs_typed_size(o->in_type) : o->wide ? 8 : 4;
	const uint64_t out = o->mixed ? tfs_typed_size(o->out_type) : o->wide ? 8 : 4;

	return (uintptr_t)o->a | (uintptr_t)o->b | (uintptr_t)o->c | (uint64_t)o->lda * in |
	       (uint64_t)o->ldb * in | (uint64_t)o->ldc * out;
}

cublasStatus_t tfs_blas_gemm_submit(cublasHandle_t handle, struct tfs_blas_op *o)
{
	uint64_t m = (uint64_t)o->m, n = (uint64_t)o->n, k = (uint64_t)o->k;
	uint64_t batch = (uint64_t)o->batch, in = m * k + k * n, out = m * n;

	if (!valid(o))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!o->m || !o->n || !o->batch)
		return CUBLAS_STATUS_SUCCESS;
	if ((o->k && (!o->a || !o->b)) || !o->c)
		return CUBLAS_STATUS_INVALID_VALUE;
	o->name = (!o->wide && tfsim_tensor_cores()
			   ? names_by_cores[o->math != TFSIM_SINGLE]
			   : names[o->wide])[o->ta != CUBLAS_OP_N][o->tb != CUBLAS_OP_N];
	if (!split(handle, o))
		return CUBLAS_STATUS_ALLOC_FAILED;
	if (o->mixed)
		o->bytes = (in * tfs_typed_size(o->in_type) + out * tfs_typed_size(o->out_type)) *
			   batch;
	return tfs_blas_submit(handle, o, tfs_blas_gemm_run, (in + out) * batch,
		2 * m * n * k * batch * tfsim_unaligned(o->math, placed(o)));
}

/* Fills in what all forms have in common. */
static struct tfs_blas_op plain(cublasHandle_t handle, bool wide, cublasOperation_t ta,
	cublasOperation_t tb, const void *alpha, const void *beta)
{
	struct tfs_blas_op o = {.wide = wide, .ta = ta, .tb = tb, .batch = 1};

	o.alpha = tfs_blas_scalar(handle, wide, alpha);
	o.beta = tfs_blas_scalar(handle, wide, beta);
	o.tf32 = !wide && (handle->math & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH;
	o.math = o.tf32 ? TFSIM_TENSOR : TFSIM_SINGLE;
	return o;
}

static bool sizes(struct tfs_blas_op *o, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
	int64_t ldc)
{
	if (!tfs_blas_fits(m) || !tfs_blas_fits(n) || !tfs_blas_fits(k) || !tfs_blas_fits(lda) ||
		!tfs_blas_fits(ldb) || !tfs_blas_fits(ldc))
		return false;
	o->m = (int)m;
	o->n = (int)n;
	o->k = (int)k;
	o->lda = (int)lda;
	o->ldb = (int)ldb;
	o->ldc = (int)ldc;
	return true;
}

#define GEMM(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa,          \
		cublasOperation_t transb, I m, I n, I k, const T *alpha, const T *A, I lda,        \
		const T *B, I ldb, const T *beta, T *C, I ldc)                                     \
	{                                                                                          \
		struct tfs_blas_op o;                                                              \
                                                                                                   \
		if (!handle)                                                                       \
			return CUBLAS_STATUS_NOT_INITIALIZED;                                      \
		if (!alpha || !beta)                                                               \
			return CUBLAS_STATUS_INVALID_VALUE;                                        \
		o = plain(handle, is_wide, transa, transb, alpha, beta);                           \
		if (!sizes(&o, m, n, k, lda, ldb, ldc))                                            \
			return CUBLAS_STATUS_NOT_SUPPORTED;                                        \
		o.a = A;                                                                           \
		o.b = B;                                                                           \
		o.c = C;                                                                           \
		return tfs_blas_gemm_submit(handle, &o);                                           \
	}

GEMM(cublasSgemm_v2, float, int, false)
GEMM(cublasSgemm_v2_64, float, int64_t, false)
GEMM(cublasDgemm_v2, double, int, true)
GEMM(cublasDgemm_v2_64, double, int64_t, true)

#define GEMM_STRIDED(name, T, I, is_wide)                                                          \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa,          \
		cublasOperation_t transb, I m, I n, I k, const T *alpha, const T *A, I lda,        \
		long long int strideA, const T *B, I ldb, long long int strideB, const T *beta,    \
		T *C, I ldc, long long int strideC, I batchCount)                                  \
	{                                                                                          \
		struct tfs_blas_op o;                                                              \
                                                                                                   \
		if (!handle)                                                                       \
			return CUBLAS_STATUS_NOT_INITIALIZED;                                      \
		if (!alpha || !beta)                                                               \
			return CUBLAS_STATUS_INVALID_VALUE;                                        \
		o = plain(handle, is_wide, transa, transb, alpha, beta);                           \
		if (!sizes(&o, m, n, k, lda, ldb, ldc) || !tfs_blas_fits(batchCount))              \
			return CUBLAS_STATUS_NOT_SUPPORTED;                                        \
		o.a = A;                                                                           \
		o.b = B;                                                                           \
		o.c = C;                                                                           \
		o.stride_a = strideA;                                                              \
		o.stride_b = strideB;                                                              \
		o.stride_c = strideC;                                                              \
		o.batch = (int)batchCount;                                                         \
		return tfs_blas_gemm_submit(handle, &o);                                           \
	}

GEMM_STRIDED(cublasSgemmStridedBatched, float, int, false)
GEMM_STRIDED(cublasSgemmStridedBatched_64, float, int64_t, false)
GEMM_STRIDED(cublasDgemmStridedBatched, double, int, true)
GEMM_STRIDED(cublasDgemmStridedBatched_64, double, int64_t, true)

#define GEMM_BATCHED(name, T, I, is_wide)                                                          \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa,          \
		cublasOperation_t transb, I m, I n, I k, const T *alpha, const T *const Aarray[],  \
		I lda, const T *const Barray[], I ldb, const T *beta, T *const Carray[], I ldc,    \
		I batchCount)                                                                      \
	{                                                                                          \
		struct tfs_blas_op o;                                                              \
                                                                                                   \
		if (!handle)                                                                       \
			return CUBLAS_STATUS_NOT_INITIALIZED;                                      \
		if (!alpha || !beta)                                                               \
			return CUBLAS_STATUS_INVALID_VALUE;                                        \
		o = plain(handle, is_wide, transa, transb, alpha, beta);                           \
		if (!sizes(&o, m, n, k, lda, ldb, ldc) || !tfs_blas_fits(batchCount))              \
			return CUBLAS_STATUS_NOT_SUPPORTED;                                        \
		o.a = Aarray;                                                                      \
		o.b = Barray;                                                                      \
		o.c = (void *)Carray;                                                              \
		o.pointers = true;                                                                 \
		o.batch = (int)batchCount;                                                         \
		return tfs_blas_gemm_submit(handle, &o);                                           \
	}

GEMM_BATCHED(cublasSgemmBatched, float, int, false)
GEMM_BATCHED(cublasSgemmBatched_64, float, int64_t, false)
GEMM_BATCHED(cublasDgemmBatched, double, int, true)
GEMM_BATCHED(cublasDgemmBatched_64, double, int64_t, true)
