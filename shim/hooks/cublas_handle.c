/* SPDX-License-Identifier: MIT */
#include <cublas_v2.h>

#include "shim/hooks/cublas.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublas

static struct {
	bool looked_up;
	__typeof__(&cublasGetStream_v2) stream;
	__typeof__(&cublasGetPointerMode_v2) pointer_mode;
} cublas;

static void look_up(void)
{
	if (__atomic_load_n(&cublas.looked_up, __ATOMIC_ACQUIRE) ||
		!tfs_lookup_steady(TFS_LIBRARY_cublas))
		return;
	cublas.stream = (__typeof__(cublas.stream))tfs_lookup_named(
		TFS_LIBRARY_cublas, "cublasGetStream_v2");
	cublas.pointer_mode = (__typeof__(cublas.pointer_mode))tfs_lookup_named(
		TFS_LIBRARY_cublas, "cublasGetPointerMode_v2");
	__atomic_store_n(&cublas.looked_up, true, __ATOMIC_RELEASE);
}

void tfs_cublas_details(struct tfs_details *details, cublasHandle_t handle)
{
	cudaStream_t stream = NULL;

	look_up();
	if (cublas.stream == NULL || cublas.stream(handle, &stream) != CUBLAS_STATUS_SUCCESS)
		stream = NULL;
	tfs_details_init(details, tfs_stream_id(stream, 0));
}

static _Atomic bool own_workspace;

bool tfs_cublas_stream(cublasHandle_t handle, void **out_stream)
{
	cudaStream_t stream = NULL;

	look_up();
	if (own_workspace || cublas.stream == NULL ||
		cublas.stream(handle, &stream) != CUBLAS_STATUS_SUCCESS)
		return false;
	*out_stream = stream;
	return true;
}

bool tfs_cublas_host_pointers(cublasHandle_t handle)
{
	cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;

	look_up();
	return cublas.pointer_mode == NULL ||
	       cublas.pointer_mode(handle, &mode) != CUBLAS_STATUS_SUCCESS ||
	       mode == CUBLAS_POINTER_MODE_HOST;
}

double tfs_cublas_scalar(cublasHandle_t handle, const void *scalar, uint32_t bytes)
{
	if (scalar == NULL || !tfs_cublas_host_pointers(handle))
		return NAN;
	return bytes == 8 ? *(const double *)scalar : *(const float *)scalar;
}

TFS_PLAIN_HOOK(cublasStatus_t, cublasCreate_v2, (cublasHandle_t * out), (out))
TFS_PLAIN_HOOK(cublasStatus_t, cublasDestroy_v2, (cublasHandle_t handle), (handle))
TFS_PLAIN_HOOK(cublasStatus_t, cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream),
	(handle, stream))
TFS_PLAIN_HOOK(cublasStatus_t, cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode),
	(handle, mode))
TFS_PLAIN_HOOK(cublasStatus_t, cublasSetPointerMode_v2,
	(cublasHandle_t handle, cublasPointerMode_t mode), (handle, mode))

TFS_HOOK(cublasStatus_t, cublasSetWorkspace_v2,
	(cublasHandle_t handle, void *workspace, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cublasSetWorkspace_v2);
	const cublasStatus_t status = TFS_REAL(cublasSetWorkspace_v2)(handle, workspace, bytes);

	own_workspace = true;
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cublasCreate_v2, handle)                                                                 \
	X(cublasDestroy_v2, handle)                                                                \
	X(cublasSetStream_v2, handle)                                                              \
	X(cublasSetMathMode, handle)                                                               \
	X(cublasSetPointerMode_v2, handle)                                                         \
	X(cublasSetWorkspace_v2, handle)

TFS_FAMILY(cublas_handle, FUNCTIONS);
