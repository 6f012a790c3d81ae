/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas_op.h"

struct tfs_blas_scalar tfs_blas_constant(double value)
{
	struct tfs_blas_scalar s = {.value = value};

	return s;
}

struct tfs_blas_scalar tfs_blas_scalar(cublasHandle_t handle, bool wide, const void *where)
{
	struct tfs_blas_scalar s = {.where = where};

	s.on_device = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
	if (!s.on_device)
		s.value = wide ? *(const double *)where : (double)*(const float *)where;
	return s;
}

double tfs_blas_value(const struct tfs_blas_scalar *s, bool wide)
{
	if (!s->on_device)
		return s->value;
	return wide ? *(const double *)s->where : (double)*(const float *)s->where;
}

bool tfs_blas_fits(int64_t n)
{
	return n >= INT32_MIN && n <= INT32_MAX;
}

cublasStatus_t tfs_blas_submit(cublasHandle_t handle, const struct tfs_blas_op *op,
	void (*run)(void *), uint64_t elements, uint64_t flops)
{
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = op->name, .run = run};

	w.cost_ns = tfsim_cost_kernel(elements * (op->wide ? 8 : 4), flops);
	w.args = op;
	w.args_size = sizeof(*op);
	w.grid = (dim3){(unsigned)(elements / 256 + 1), 1, 1};
	w.block = (dim3){256, 1, 1};
	return tfsim_enqueue(handle->stream, &w) ? CUBLAS_STATUS_EXECUTION_FAILED
						 : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t tfs_blas_result(cublasHandle_t handle, size_t bytes)
{
	struct tfsim_work w = {.kind = TFSIM_MEMCPY, .src = TFSIM_DEVICE, .dst = TFSIM_PINNED};

	if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
		return CUBLAS_STATUS_SUCCESS;
	w.bytes = bytes;
	w.cost_ns = tfsim_cost_copy(bytes, w.dst, w.src);
	if (tfsim_enqueue(handle->stream, &w) || tfsim_stream_synchronize(handle->stream))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return CUBLAS_STATUS_SUCCESS;
}
