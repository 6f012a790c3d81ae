/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

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

void tfs_blas_workspace(cublasHandle_t handle, bool lent, void *workspace, size_t size)
{
	handle->lent = lent;
	handle->workspace = lent ? workspace : handle->pool.address;
	handle->workspace_bytes = !lent ? handle->pooled_bytes : workspace ? size : 0;
}

size_t tfs_blas_needed(const struct tfs_blas_op *op)
{
	return op->parts < 2 ? 0
			     : (size_t)op->parts * (size_t)op->m * (size_t)op->n *
				       (op->wide ? sizeof(double) : sizeof(float));
}

/* Documented: the default workspaces are guarded against streams that would share them. */
static pthread_mutex_t pooled = PTHREAD_MUTEX_INITIALIZER;

/* False: the device has faulted, maybe in whoever holds it, and it never comes back. */
static bool take_pooled(void)
{
	while (pthread_mutex_trylock(&pooled) != 0) {
		if (tfsim_sticky() != cudaSuccess)
			return false;
		sched_yield();
	}
	return true;
}

/* A workspace that the program lent may be written to by whatever its handle does. */
static void run_with_workspace(void *args)
{
	struct tfs_blas_op *op = args;
	const size_t needed = tfs_blas_needed(op);

	if (op->pooled && needed && !take_pooled())
		return;
	if (op->workspace)
		tfsim_workspace_enter(op->workspace, op->pooled ? needed : op->workspace_bytes);
	op->run(op);
	tfsim_workspace_leave(op->workspace, needed);
	if (op->pooled && needed)
		pthread_mutex_unlock(&pooled);
}

/* In hostile mode some handles need more than they said when they were made. */
static bool first_use(cublasHandle_t handle)
{
	const size_t size = ((size_t)2 << 20) * tfsim_hostile_pick(0x801, 4);

	if (!handle->used)
		handle->used = !size || tfsim_library_alloc(size, &handle->more) == cudaSuccess;
	return handle->used;
}

cublasStatus_t tfs_blas_submit(cublasHandle_t handle, const struct tfs_blas_op *op,
	void (*run)(void *), uint64_t elements, uint64_t flops)
{
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = op->name, .run = run_with_workspace};
	struct tfs_blas_op whole = *op;

	if (!first_use(handle))
		return CUBLAS_STATUS_ALLOC_FAILED;
	whole.run = run;
	whole.pooled = !handle->lent;
	whole.workspace = handle->workspace;
	whole.workspace_bytes = handle->workspace_bytes;
	w.cost_ns = tfsim_cost_math(op->wide ? TFSIM_DOUBLE : op->math,
		op->bytes ? op->bytes : elements * (op->wide ? 8 : 4), flops);
	w.args = &whole;
	w.args_size = sizeof(whole);
	w.grid = (dim3){(unsigned)(elements / 256 + 1), 1, 1};
	w.block = (dim3){256, 1, 1};
	return tfsim_enqueue(handle->stream, &w) ? CUBLAS_STATUS_EXECUTION_FAILED
						 : CUBLAS_STATUS_SUCCESS;
}

/* A result on the host that no kernel has written. */
struct result {
	void *where;
	size_t bytes;
};

static void clear(void *args)
{
	const struct result *r = args;

	memset(r->where, 0, r->bytes);
}

cublasStatus_t tfs_blas_result(cublasHandle_t handle, void *result, size_t bytes)
{
	struct tfsim_work w = {.kind = TFSIM_MEMCPY, .src = TFSIM_DEVICE, .dst = TFSIM_PINNED};
	const struct result r = {result, bytes};

	if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
		return CUBLAS_STATUS_SUCCESS;
	if (!tfsim_computes())
		w.run = clear;
	w.args = &r;
	w.args_size = sizeof(r);
	w.bytes = bytes;
	w.cost_ns = tfsim_cost_copy(bytes, w.dst, w.src);
	if (tfsim_enqueue(handle->stream, &w) || tfsim_stream_synchronize(handle->stream))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return CUBLAS_STATUS_SUCCESS;
}
