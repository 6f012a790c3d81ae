/* SPDX-License-Identifier: MIT */
#include <cblas.h>
#include <string.h>

#include "tests/sim/cublas/cublas_op.h"

/* Sets the y of a product to zero where beta 0 says that it is not read. */
static void clear(const struct tfs_blas_op *o, int n)
{
	size_t size = o->wide ? 8 : 4;
	int64_t step = o->ldc;
	char *y = o->c;

	if (step < 0)
		y -= (n - 1) * step * (int64_t)size;
	for (int i = 0; i < n; i++)
		memset(y + i * step * (int64_t)size, 0, size);
}

static void run_gemv(void *op)
{
	const struct tfs_blas_op *o = op;
	CBLAS_TRANSPOSE t = o->ta == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
	double alpha = tfs_blas_value(&o->alpha, o->wide);
	double beta = tfs_blas_value(&o->beta, o->wide);

	if (beta == 0.0)
		clear(o, o->ta == CUBLAS_OP_N ? o->m : o->n);
	if (o->wide)
		cblas_dgemv(CblasColMajor, t, o->m, o->n, alpha, o->a, o->lda, o->b, o->ldb, beta,
			o->c, o->ldc);
	else
		cblas_sgemv(CblasColMajor, t, o->m, o->n, (float)alpha, o->a, o->lda, o->b, o->ldb,
			(float)beta, o->c, o->ldc);
}

static void run_ger(void *op)
{
	const struct tfs_blas_op *o = op;
	double alpha = tfs_blas_value(&o->alpha, o->wide);

	if (o->wide)
		cblas_dger(
			CblasColMajor, o->m, o->n, alpha, o->a, o->lda, o->b, o->ldb, o->c, o->ldc);
	else
		cblas_sger(CblasColMajor, o->m, o->n, (float)alpha, o->a, o->lda, o->b, o->ldb,
			o->c, o->ldc);
}

static bool fits(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e)
{
	return tfs_blas_fits(a) && tfs_blas_fits(b) && tfs_blas_fits(c) && tfs_blas_fits(d) &&
	       tfs_blas_fits(e);
}

static cublasStatus_t gemv(cublasHandle_t handle, struct tfs_blas_op *o, int64_t m, int64_t n,
	const void *alpha, int64_t lda, int64_t incx, const void *beta, int64_t incy)
{
	static const char *const names[2][2] = {
		{"tfsim_sgemv_n", "tfsim_sgemv_t"}, {"tfsim_dgemv_n", "tfsim_dgemv_t"}};

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || incx == 0 || incy == 0 || !alpha || !beta)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!fits(m, n, lda, incx, incy))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (m == 0 || n == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!o->a || !o->b || !o->c)
		return CUBLAS_STATUS_INVALID_VALUE;
	o->name = names[o->wide][o->ta != CUBLAS_OP_N];
	o->m = (int)m;
	o->n = (int)n;
	o->lda = (int)lda;
	o->ldb = (int)incx;
	o->ldc = (int)incy;
	o->alpha = tfs_blas_scalar(handle, o->wide, alpha);
	o->beta = tfs_blas_scalar(handle, o->wide, beta);
	return tfs_blas_submit(
		handle, o, run_gemv, (uint64_t)(m * n + m + n), (uint64_t)(2 * m * n));
}

static cublasStatus_t ger(cublasHandle_t handle, struct tfs_blas_op *o, int64_t m, int64_t n,
	const void *alpha, int64_t incx, int64_t incy, int64_t lda)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || incx == 0 || incy == 0 || !alpha)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!fits(m, n, lda, incx, incy))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (m == 0 || n == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!o->a || !o->b || !o->c)
		return CUBLAS_STATUS_INVALID_VALUE;
	o->name = o->wide ? "tfsim_dger" : "tfsim_sger";
	o->m = (int)m;
	o->n = (int)n;
	o->lda = (int)incx;
	o->ldb = (int)incy;
	o->ldc = (int)lda;
	o->alpha = tfs_blas_scalar(handle, o->wide, alpha);
	return tfs_blas_submit(
		handle, o, run_ger, (uint64_t)(2 * m * n + m + n), (uint64_t)(2 * m * n));
}

#define GEMV(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, cublasOperation_t trans, I m, I n, \
		const T *alpha, const T *A, I lda, const T *x, I incx, const T *beta, T *y,        \
		I incy)                                                                            \
	{                                                                                          \
		struct tfs_blas_op o = {.wide = is_wide, .ta = trans, .a = A, .b = x, .c = y};     \
                                                                                                   \
		return gemv(handle, &o, m, n, alpha, lda, incx, beta, incy);                       \
	}

GEMV(cublasSgemv_v2, float, int, false)
GEMV(cublasSgemv_v2_64, float, int64_t, false)
GEMV(cublasDgemv_v2, double, int, true)
GEMV(cublasDgemv_v2_64, double, int64_t, true)

#define GER(name, T, I, is_wide)                                                                   \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, I m, I n, const T *alpha,          \
		const T *x, I incx, const T *y, I incy, T *A, I lda)                               \
	{                                                                                          \
		struct tfs_blas_op o = {.wide = is_wide, .a = x, .b = y, .c = A};                  \
                                                                                                   \
		return ger(handle, &o, m, n, alpha, incx, incy, lda);                              \
	}

GER(cublasSger_v2, float, int, false)
GER(cublasSger_v2_64, float, int64_t, false)
GER(cublasDger_v2, double, int, true)
GER(cublasDger_v2_64, double, int64_t, true)
