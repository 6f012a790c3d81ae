/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

static double element(
	const struct tfs_blas_op *o, const void *p, cublasOperation_t t, int ld, int i, int j)
{
	int64_t at = t == CUBLAS_OP_N ? i + (int64_t)j * ld : j + (int64_t)i * ld;

	return o->wide ? ((const double *)p)[at] : (double)((const float *)p)[at];
}

/* A matrix whose factor is 0 is not read. */
static void run_geam(void *op)
{
	const struct tfs_blas_op *o = op;
	double alpha = tfs_blas_value(&o->alpha, o->wide);
	double beta = tfs_blas_value(&o->beta, o->wide);

	for (int j = 0; j < o->n; j++)
		for (int i = 0; i < o->m; i++) {
			double v = 0.0;

			if (alpha != 0.0)
				v += alpha * element(o, o->a, o->ta, o->lda, i, j);
			if (beta != 0.0)
				v += beta * element(o, o->b, o->tb, o->ldb, i, j);
			if (o->wide)
				((double *)o->c)[i + (int64_t)j * o->ldc] = v;
			else
				((float *)o->c)[i + (int64_t)j * o->ldc] = (float)v;
		}
}

static int rows(cublasOperation_t t, int m, int n)
{
	int r = t == CUBLAS_OP_N ? m : n;

	return r > 1 ? r : 1;
}

static cublasStatus_t geam(cublasHandle_t handle, struct tfs_blas_op *o, int64_t m, int64_t n,
	const void *alpha, int64_t lda, const void *beta, int64_t ldb, int64_t ldc)
{
	uint64_t count = (uint64_t)(m * n);

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!tfs_blas_fits(m) || !tfs_blas_fits(n) || !tfs_blas_fits(lda) || !tfs_blas_fits(ldb) ||
		!tfs_blas_fits(ldc))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (m < 0 || n < 0 || !alpha || !beta || lda < rows(o->ta, (int)m, (int)n) ||
		ldb < rows(o->tb, (int)m, (int)n) || ldc < rows(CUBLAS_OP_N, (int)m, (int)n))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (m == 0 || n == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!o->c)
		return CUBLAS_STATUS_INVALID_VALUE;
	/* In place works only where each element depends on itself alone. */
	if ((o->c == o->a && (o->ta != CUBLAS_OP_N || lda != ldc)) ||
		(o->c == o->b && (o->tb != CUBLAS_OP_N || ldb != ldc)))
		return CUBLAS_STATUS_INVALID_VALUE;
	o->name = o->wide ? "tfsim_dgeam" : "tfsim_sgeam";
	o->m = (int)m;
	o->n = (int)n;
	o->lda = (int)lda;
	o->ldb = (int)ldb;
	o->ldc = (int)ldc;
	o->alpha = tfs_blas_scalar(handle, o->wide, alpha);
	o->beta = tfs_blas_scalar(handle, o->wide, beta);
	return tfs_blas_submit(handle, o, run_geam, 3 * count, 3 * count);
}

#define GEAM(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa,          \
		cublasOperation_t transb, I m, I n, const T *alpha, const T *A, I lda,             \
		const T *beta, const T *B, I ldb, T *C, I ldc)                                     \
	{                                                                                          \
		struct tfs_blas_op o = {.wide = is_wide, .ta = transa, .tb = transb};              \
                                                                                                   \
		o.a = A;                                                                           \
		o.b = B;                                                                           \
		o.c = C;                                                                           \
		return geam(handle, &o, m, n, alpha, lda, beta, ldb, ldc);                         \
	}

GEAM(cublasSgeam, float, int, false)
GEAM(cublasSgeam_64, float, int64_t, false)
GEAM(cublasDgeam, double, int, true)
GEAM(cublasDgeam_64, double, int64_t, true)
