/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

/* Dot products of vectors whose types the call names. */
struct dot {
	int64_t n, incx, incy;
	const void *x, *y;
	void *result;
	cudaDataType xtype, ytype, type;
	bool wide; /* summed in double */
};

static double get(const void *array, cudaDataType type, int64_t i)
{
	if (type == CUDA_R_64F)
		return ((const double *)array)[i];
	return (double)tfs_typed_get(array, type, i);
}

/* Negative increments run from the far end. */
static int64_t first(int64_t n, int64_t inc)
{
	return inc < 0 ? (1 - n) * inc : 0;
}

static void run(void *args)
{
	const struct dot *d = args;
	int64_t x = first(d->n, d->incx), y = first(d->n, d->incy);
	double sum = 0;

	for (int64_t i = 0; i < d->n; i++, x += d->incx, y += d->incy) {
		sum += get(d->x, d->xtype, x) * get(d->y, d->ytype, y);
		if (!d->wide)
			sum = (double)(float)sum;
	}
	if (d->type == CUDA_R_64F)
		*(double *)d->result = sum;
	else
		tfs_typed_put(d->result, d->type, 0, (float)sum);
}

static size_t size_of(cudaDataType type)
{
	return type == CUDA_R_64F ? 8 : tfs_typed_size(type);
}

static cublasStatus_t dot(
	cublasHandle_t handle, const char *name, struct dot *d, cudaDataType execution)
{
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = "tfsim_dot_ex", .run = run};
	uint64_t n = (uint64_t)(d->n > 0 ? d->n : 0);

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!d->result || (n && (!d->x || !d->y)))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!size_of(d->xtype) || d->ytype != d->xtype || d->type != d->xtype ||
		execution != (d->xtype == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F)) {
		tfsim_not_supported(name);
		return CUBLAS_STATUS_NOT_SUPPORTED;
	}
	d->wide = execution == CUDA_R_64F;
	w.args = d;
	w.args_size = sizeof(*d);
	w.cost_ns = tfsim_cost_math(
		d->wide ? TFSIM_DOUBLE : TFSIM_SINGLE, 2 * n * size_of(d->xtype), 2 * n);
	w.grid = (dim3){(unsigned)(n / 256 + 1), 1, 1};
	w.block = (dim3){256, 1, 1};
	if (tfsim_enqueue(handle->stream, &w))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return tfs_blas_result(handle, d->result, size_of(d->type));
}

/* Of real numbers both are the same. */
#define DOT_EX(name, I)                                                                            \
	TFS_BLAS_API cublasStatus_t name(cublasHandle_t handle, I n, const void *x,                \
		cudaDataType xType, I incx, const void *y, cudaDataType yType, I incy,             \
		void *result, cudaDataType resultType, cudaDataType executionType)                 \
	{                                                                                          \
		struct dot d = {n, incx, incy, x, y, result, xType, yType, resultType, false};     \
                                                                                                   \
		return dot(handle, #name " of this type", &d, executionType);                      \
	}

DOT_EX(cublasDotEx, int)
DOT_EX(cublasDotEx_64, int64_t)
DOT_EX(cublasDotcEx, int)
DOT_EX(cublasDotcEx_64, int64_t)
