/* SPDX-License-Identifier: MIT */
#include <cblas.h>

#include "tests/sim/cublas/cublas_op.h"

/* x is a, y is c (or b where nothing is written); increments may be negative, as in BLAS. */
static void run_axpy(void *op)
{
	const struct tfs_blas_op *o = op;
	double alpha = tfs_blas_value(&o->alpha, o->wide);

	if (o->wide)
		cblas_daxpy(o->n, alpha, o->a, o->lda, o->c, o->ldc);
	else
		cblas_saxpy(o->n, (float)alpha, o->a, o->lda, o->c, o->ldc);
}

static void run_scal(void *op)
{
	const struct tfs_blas_op *o = op;
	double alpha = tfs_blas_value(&o->alpha, o->wide);

	if (o->wide)
		cblas_dscal(o->n, alpha, o->c, o->ldc);
	else
		cblas_sscal(o->n, (float)alpha, o->c, o->ldc);
}

static void run_copy(void *op)
{
	const struct tfs_blas_op *o = op;

	if (o->wide)
		cblas_dcopy(o->n, o->a, o->lda, o->c, o->ldc);
	else
		cblas_scopy(o->n, o->a, o->lda, o->c, o->ldc);
}

static void run_swap(void *op)
{
	const struct tfs_blas_op *o = op;

	if (o->wide)
		cblas_dswap(o->n, (double *)o->a, o->lda, o->c, o->ldc);
	else
		cblas_sswap(o->n, (float *)o->a, o->lda, o->c, o->ldc);
}

static bool prepare(
	struct tfs_blas_op *o, const char *name, bool wide, int64_t n, int64_t incx, int64_t incy)
{
	*o = (struct tfs_blas_op){.name = name, .wide = wide, .batch = 1};
	if (!tfs_blas_fits(n) || !tfs_blas_fits(incx) || !tfs_blas_fits(incy))
		return false;
	o->n = (int)n;
	o->lda = (int)incx;
	o->ldc = (int)incy;
	return true;
}

static cublasStatus_t axpy(cublasHandle_t handle, bool wide, int64_t n, const void *alpha,
	const void *x, int64_t incx, void *y, int64_t incy)
{
	struct tfs_blas_op o;

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (n <= 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!alpha || !x || !y)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!prepare(&o, wide ? "tfsim_daxpy" : "tfsim_saxpy", wide, n, incx, incy))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	o.alpha = tfs_blas_scalar(handle, wide, alpha);
	o.a = x;
	o.c = y;
	return tfs_blas_submit(handle, &o, run_axpy, 3 * (uint64_t)n, 2 * (uint64_t)n);
}

static cublasStatus_t scal(
	cublasHandle_t handle, bool wide, int64_t n, const void *alpha, void *x, int64_t incx)
{
	struct tfs_blas_op o;

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (n <= 0 || incx <= 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!alpha || !x)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!prepare(&o, wide ? "tfsim_dscal" : "tfsim_sscal", wide, n, 1, incx))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	o.alpha = tfs_blas_scalar(handle, wide, alpha);
	o.c = x;
	return tfs_blas_submit(handle, &o, run_scal, 2 * (uint64_t)n, (uint64_t)n);
}

static cublasStatus_t move(cublasHandle_t handle, bool wide, bool swap, int64_t n, const void *x,
	int64_t incx, void *y, int64_t incy)
{
	static const char *const names[2][2] = {
		{"tfsim_scopy", "tfsim_dcopy"}, {"tfsim_sswap", "tfsim_dswap"}};
	struct tfs_blas_op o;

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (n <= 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!x || !y)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!prepare(&o, names[swap][wide], wide, n, incx, incy))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	o.a = x;
	o.c = y;
	return tfs_blas_submit(
		handle, &o, swap ? run_swap : run_copy, (swap ? 4 : 2) * (uint64_t)n, 0);
}

#define AXPY(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(                                                          \
		cublasHandle_t handle, I n, const T *alpha, const T *x, I incx, T *y, I incy)      \
	{                                                                                          \
		return axpy(handle, is_wide, n, alpha, x, incx, y, incy);                          \
	}

AXPY(cublasSaxpy_v2, float, int, false)
AXPY(cublasSaxpy_v2_64, float, int64_t, false)
AXPY(cublasDaxpy_v2, double, int, true)
AXPY(cublasDaxpy_v2_64, double, int64_t, true)

#define SCAL(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, I n, const T *alpha, T *x, I incx) \
	{                                                                                          \
		return scal(handle, is_wide, n, alpha, x, incx);                                   \
	}

SCAL(cublasSscal_v2, float, int, false)
SCAL(cublasSscal_v2_64, float, int64_t, false)
SCAL(cublasDscal_v2, double, int, true)
SCAL(cublasDscal_v2_64, double, int64_t, true)

#define COPY(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(                                                          \
		cublasHandle_t handle, I n, const T *x, I incx, T *y, I incy)                      \
	{                                                                                          \
		return move(handle, is_wide, false, n, x, incx, y, incy);                          \
	}

COPY(cublasScopy_v2, float, int, false)
COPY(cublasScopy_v2_64, float, int64_t, false)
COPY(cublasDcopy_v2, double, int, true)
COPY(cublasDcopy_v2_64, double, int64_t, true)

#define SWAP(name, T, I, is_wide)                                                                  \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, I n, T *x, I incx, T *y, I incy)   \
	{                                                                                          \
		return move(handle, is_wide, true, n, x, incx, y, incy);                           \
	}

SWAP(cublasSswap_v2, float, int, false)
SWAP(cublasSswap_v2_64, float, int64_t, false)
SWAP(cublasDswap_v2, double, int, true)
SWAP(cublasDswap_v2_64, double, int64_t, true)
