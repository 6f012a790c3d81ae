/* SPDX-License-Identifier: MIT */
#include <cblas.h>

#include "tests/sim/cublas/cublas_op.h"

/* The calls with a scalar result: it goes to c, which is the host's or the device's. */
enum reduction { DOT, NRM2, ASUM };

static void put(const struct tfs_blas_op *o, double value)
{
	if (o->wide)
		*(double *)o->c = value;
	else
		*(float *)o->c = (float)value;
}

static void run_dot(void *op)
{
	const struct tfs_blas_op *o = op;

	put(o, o->wide ? cblas_ddot(o->n, o->a, o->lda, o->b, o->ldb)
		       : (double)cblas_sdot(o->n, o->a, o->lda, o->b, o->ldb));
}

static void run_nrm2(void *op)
{
	const struct tfs_blas_op *o = op;

	put(o, o->wide ? cblas_dnrm2(o->n, o->a, o->lda) : (double)cblas_snrm2(o->n, o->a, o->lda));
}

static void run_asum(void *op)
{
	const struct tfs_blas_op *o = op;

	put(o, o->wide ? cblas_dasum(o->n, o->a, o->lda) : (double)cblas_sasum(o->n, o->a, o->lda));
}

static void zero(void *op)
{
	put(op, 0.0);
}

static cublasStatus_t reduce(cublasHandle_t handle, enum reduction what, bool wide, int64_t n,
	const void *x, int64_t incx, const void *y, int64_t incy, void *result)
{
	static const struct {
		const char *names[2];
		void (*run)(void *);
	} rows[] = {
		[DOT] = {{"tfsim_sdot", "tfsim_ddot"}, run_dot},
		[NRM2] = {{"tfsim_snrm2", "tfsim_dnrm2"}, run_nrm2},
		[ASUM] = {{"tfsim_sasum", "tfsim_dasum"}, run_asum},
	};
	struct tfs_blas_op o = {.name = rows[what].names[wide], .wide = wide, .batch = 1};
	bool empty = n <= 0 || (what != DOT && incx <= 0);
	cublasStatus_t rc;

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!result || (!empty && (!x || (what == DOT && !y))))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!tfs_blas_fits(n) || !tfs_blas_fits(incx) || !tfs_blas_fits(incy))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	o.n = (int)n;
	o.a = x;
	o.b = y;
	o.c = result;
	o.lda = (int)incx;
	o.ldb = (int)incy;
	rc = tfs_blas_submit(handle, &o, empty ? zero : rows[what].run,
		(what == DOT ? 2 : 1) * (uint64_t)(empty ? 0 : n), 2 * (uint64_t)(empty ? 0 : n));
	return rc ? rc : tfs_blas_result(handle, result, wide ? 8 : 4);
}

/* BLAS on devices counts from 1; 0 is the answer for nothing. */
struct extreme {
	struct tfs_blas_op op;
	bool smallest;
	bool wide_index;
};

static void run_extreme(void *args)
{
	const struct extreme *e = args;
	const struct tfs_blas_op *o = &e->op;
	int64_t best = 0;

	if (o->n > 0 && o->lda > 0) {
		if (o->wide)
			best = (int64_t)(e->smallest ? cblas_idamin(o->n, o->a, o->lda)
						     : cblas_idamax(o->n, o->a, o->lda)) +
			       1;
		else
			best = (int64_t)(e->smallest ? cblas_isamin(o->n, o->a, o->lda)
						     : cblas_isamax(o->n, o->a, o->lda)) +
			       1;
	}
	if (e->wide_index)
		*(int64_t *)o->c = best;
	else
		*(int *)o->c = (int)best;
}

static cublasStatus_t extreme(cublasHandle_t handle, bool wide, bool smallest, bool wide_index,
	int64_t n, const void *x, int64_t incx, void *result)
{
	static const char *const names[2][2] = {
		{"tfsim_isamax", "tfsim_idamax"}, {"tfsim_isamin", "tfsim_idamin"}};
	struct extreme e = {.smallest = smallest, .wide_index = wide_index};
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = names[smallest][wide]};

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!result || (n > 0 && !x))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!tfs_blas_fits(n) || !tfs_blas_fits(incx))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	e.op.wide = wide;
	e.op.n = (int)n;
	e.op.a = x;
	e.op.lda = (int)incx;
	e.op.c = result;
	w.run = run_extreme;
	w.args = &e;
	w.args_size = sizeof(e);
	w.cost_ns = tfsim_cost_kernel((uint64_t)(n > 0 ? n : 0) * (wide ? 8 : 4), 0);
	w.grid = w.block = (dim3){1, 1, 1};
	if (tfsim_enqueue(handle->stream, &w))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return tfs_blas_result(handle, result, wide_index ? 8 : 4);
}

#define DOT_CALL(name, T, I, is_wide)                                                              \
	TFS_BLAS_API cublasStatus_t name(                                                          \
		cublasHandle_t handle, I n, const T *x, I incx, const T *y, I incy, T *result)     \
	{                                                                                          \
		return reduce(handle, DOT, is_wide, n, x, incx, y, incy, result);                  \
	}

DOT_CALL(cublasSdot_v2, float, int, false)
DOT_CALL(cublasSdot_v2_64, float, int64_t, false)
DOT_CALL(cublasDdot_v2, double, int, true)
DOT_CALL(cublasDdot_v2_64, double, int64_t, true)

#define NORM_CALL(name, what, T, I, is_wide)                                                       \
	TFS_BLAS_API cublasStatus_t name(                                                          \
		cublasHandle_t handle, I n, const T *x, I incx, T *result)                         \
	{                                                                                          \
		return reduce(handle, what, is_wide, n, x, incx, NULL, 1, result);                 \
	}

NORM_CALL(cublasSnrm2_v2, NRM2, float, int, false)
NORM_CALL(cublasSnrm2_v2_64, NRM2, float, int64_t, false)
NORM_CALL(cublasDnrm2_v2, NRM2, double, int, true)
NORM_CALL(cublasDnrm2_v2_64, NRM2, double, int64_t, true)
NORM_CALL(cublasSasum_v2, ASUM, float, int, false)
NORM_CALL(cublasSasum_v2_64, ASUM, float, int64_t, false)
NORM_CALL(cublasDasum_v2, ASUM, double, int, true)
NORM_CALL(cublasDasum_v2_64, ASUM, double, int64_t, true)

#define EXTREME_CALL(name, T, I, is_wide, is_min)                                                  \
	TFS_BLAS_API cublasStatus_t name(                                                          \
		cublasHandle_t handle, I n, const T *x, I incx, I *result)                         \
	{                                                                                          \
		return extreme(handle, is_wide, is_min, sizeof(I) == 8, n, x, incx, result);       \
	}

EXTREME_CALL(cublasIsamax_v2, float, int, false, false)
EXTREME_CALL(cublasIsamax_v2_64, float, int64_t, false, false)
EXTREME_CALL(cublasIdamax_v2, double, int, true, false)
EXTREME_CALL(cublasIdamax_v2_64, double, int64_t, true, false)
EXTREME_CALL(cublasIsamin_v2, float, int, false, true)
EXTREME_CALL(cublasIsamin_v2_64, float, int64_t, false, true)
EXTREME_CALL(cublasIdamin_v2, double, int, true, true)
EXTREME_CALL(cublasIdamin_v2_64, double, int64_t, true, true)
