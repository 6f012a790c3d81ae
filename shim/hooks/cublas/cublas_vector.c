/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cublas_v2.h>

#include "shim/hooks/cublas/cublas.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublas

/* A call on one or two vectors of n elements. */
struct vectors {
	cublasHandle_t handle;
	int n;
	uint32_t bytes; /* of an element */
	const void *x;
	int incx;
	uint32_t x_role;
	const void *y;
	int incy;
	uint32_t y_role;
	const void *alpha;
	const void *result;
};

#define READ TFS_ROLE_READ
#define WRITE TFS_ROLE_WRITE
#define UPDATE (TFS_ROLE_READ | TFS_ROLE_WRITE)

static void put_vector(struct tfs_details *details, const void *x, int n, int increment,
	uint32_t bytes, uint32_t role)
{
	const uint64_t step = (uint64_t)(increment < 0 ? -increment : increment);

	if (x && n > 0)
		tfs_put_matrix(details, x, 0, 1 + (uint64_t)(n - 1) * step, 1, bytes, role);
}

static void note(struct tfs_frame *frame, const struct vectors *call)
{
	struct tfs_details details;

	tfs_cublas_details(&details, call->handle);
	put_vector(&details, call->x, call->n, call->incx, call->bytes, call->x_role);
	put_vector(&details, call->y, call->n, call->incy, call->bytes, call->y_role);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_m, (uint64_t)call->n);
	if (call->alpha)
		tfs_put_attribute(&details, TFS_ATTRIBUTE_alpha,
			tfs_cublas_bits(tfs_cublas_scalar(call->handle, call->alpha,
				call->bytes == 8 ? CUDA_R_64F : CUDA_R_32F)));
	/* Reductions give their result to the host, and wait for it, unless told otherwise. */
	if (call->result && tfs_cublas_host_pointers(call->handle))
		tfs_put_attribute(&details, TFS_ATTRIBUTE_host_result, 1);
	else if (call->result)
		tfs_put_operand(&details, call->result, call->bytes,
			WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
	tfs_hook_details(frame, &details);
}

/* The block of a function that is there for several types. */
#define VECTOR_HOOK(name, parameters, arguments, ...)                                              \
	TFS_HOOK(cublasStatus_t, name, parameters)                                                 \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const cublasStatus_t status = TFS_REAL(name) arguments;                            \
                                                                                                   \
		if (TFS_END(&frame, status, 0))                                                    \
			note(&frame, &(struct vectors){__VA_ARGS__});                              \
		return TFS_LEAVE(&frame), status;                                                  \
	}

#define TYPED_HOOKS(letter, type)                                                                  \
	VECTOR_HOOK(cublas##letter##axpy_v2,                                                       \
		(cublasHandle_t handle, int n, const type *alpha, const type *x, int incx,         \
			type *y, int incy),                                                        \
		(handle, n, alpha, x, incx, y, incy), handle, n, sizeof(type), x, incx, READ, y,   \
		incy, UPDATE, alpha, NULL)                                                         \
	VECTOR_HOOK(cublas##letter##scal_v2,                                                       \
		(cublasHandle_t handle, int n, const type *alpha, type *x, int incx),              \
		(handle, n, alpha, x, incx), handle, n, sizeof(type), x, incx, UPDATE, NULL, 0, 0, \
		alpha, NULL)                                                                       \
	VECTOR_HOOK(cublas##letter##copy_v2,                                                       \
		(cublasHandle_t handle, int n, const type *x, int incx, type *y, int incy),        \
		(handle, n, x, incx, y, incy), handle, n, sizeof(type), x, incx, READ, y, incy,    \
		WRITE, NULL, NULL)                                                                 \
	VECTOR_HOOK(cublas##letter##dot_v2,                                                        \
		(cublasHandle_t handle, int n, const type *x, int incx, const type *y, int incy,   \
			type *result),                                                             \
		(handle, n, x, incx, y, incy, result), handle, n, sizeof(type), x, incx, READ, y,  \
		incy, READ, NULL, result)                                                          \
	VECTOR_HOOK(cublas##letter##asum_v2,                                                       \
		(cublasHandle_t handle, int n, const type *x, int incx, type *result),             \
		(handle, n, x, incx, result), handle, n, sizeof(type), x, incx, READ, NULL, 0, 0,  \
		NULL, result)                                                                      \
	VECTOR_HOOK(cublas##letter##nrm2_v2,                                                       \
		(cublasHandle_t handle, int n, const type *x, int incx, type *result),             \
		(handle, n, x, incx, result), handle, n, sizeof(type), x, incx, READ, NULL, 0, 0,  \
		NULL, result)

TYPED_HOOKS(S, float)
TYPED_HOOKS(D, double)

#define FUNCTIONS(X)                                                                               \
	X(cublasSaxpy_v2, blas_pointwise)                                                          \
	X(cublasSscal_v2, blas_pointwise)                                                          \
	X(cublasScopy_v2, blas)                                                                    \
	X(cublasSdot_v2, reduction)                                                                \
	X(cublasSasum_v2, reduction)                                                               \
	X(cublasSnrm2_v2, reduction)                                                               \
	X(cublasDaxpy_v2, blas_pointwise)                                                          \
	X(cublasDscal_v2, blas_pointwise)                                                          \
	X(cublasDcopy_v2, blas)                                                                    \
	X(cublasDdot_v2, reduction)                                                                \
	X(cublasDasum_v2, reduction)                                                               \
	X(cublasDnrm2_v2, reduction)

FUNCTIONS(TFS_FUNCTION_ROW)
