/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/sim/core/core_device.h"
#include "tests/sim/cublas/cublas_op.h"

/*
 * The default workspaces are those of CUBLAS_WORKSPACE_CONFIG, in KiB: :4096:2:16:8 (two that a
 * large product can use, and eight small ones), and from Hopper on :4096:8, which together are the
 * 32 MiB that NVIDIA recommends there for a workspace of one's own. Below Hopper that is 4 MiB.
 */
static size_t pool_bytes(int device, size_t *out_largest)
{
	const size_t mib = (size_t)1 << 20;
	int major = 0;

	tfsim_device_attribute(cudaDevAttrComputeCapabilityMajor, device, &major);
	*out_largest = major >= 9 ? 32 * mib : 4 * mib;
	return major >= 9 ? 32 * mib : 8 * mib + mib / 8;
}

TFS_BLAS_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	struct cublasContext *h;

	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (tfsim_device_count() < 1)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	h = calloc(1, sizeof(*h));
	if (!h)
		return CUBLAS_STATUS_ALLOC_FAILED;
	h->device = tfsim_device_current();
	if (tfsim_library_alloc(pool_bytes(h->device, &h->pooled_bytes), &h->pool)) {
		free(h);
		return CUBLAS_STATUS_ALLOC_FAILED;
	}
	tfs_blas_workspace(h, false, NULL, 0);
	h->pointers = CUBLAS_POINTER_MODE_HOST;
	h->atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
	*handle = h;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	/* Documented: releasing the handle's device memory synchronizes. */
	tfsim_device_synchronize();
	tfsim_library_free(&handle->more);
	tfsim_library_free(&handle->pool);
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	(void)handle;
	if (!version)
		return CUBLAS_STATUS_INVALID_VALUE;
	*version = CUBLAS_VERSION;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};

	if (!value || (int)type < 0 || type > PATCH_LEVEL)
		return CUBLAS_STATUS_INVALID_VALUE;
	*value = parts[type];
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API size_t cublasGetCudartVersion(void)
{
	return CUDART_VERSION;
}

TFS_BLAS_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle->stream = streamId;
	/* Documented: a new stream takes the program's workspace away. */
	tfs_blas_workspace(handle, false, NULL, 0);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *streamId)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!streamId)
		return CUBLAS_STATUS_INVALID_VALUE;
	*streamId = handle->stream;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasSetWorkspace_v2(
	cublasHandle_t handle, void *workspace, size_t workspaceSizeInBytes)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if ((uintptr_t)workspace % 256)
		return CUBLAS_STATUS_INVALID_VALUE;
	tfs_blas_workspace(handle, true, workspace, workspaceSizeInBytes);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
		return CUBLAS_STATUS_INVALID_VALUE;
	handle->pointers = mode;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetPointerMode_v2(
	cublasHandle_t handle, cublasPointerMode_t *mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!mode)
		return CUBLAS_STATUS_INVALID_VALUE;
	*mode = handle->pointers;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle->atomics = mode;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!mode)
		return CUBLAS_STATUS_INVALID_VALUE;
	*mode = handle->atomics;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle->math = mode;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!mode)
		return CUBLAS_STATUS_INVALID_VALUE;
	*mode = handle->math;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int smCountTarget)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle->sm_target = smCountTarget;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int *smCountTarget)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!smCountTarget)
		return CUBLAS_STATUS_INVALID_VALUE;
	*smCountTarget = handle->sm_target;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasLoggerConfigure(
	int logIsOn, int logToStdOut, int logToStdErr, const char *logFileName)
{
	(void)logIsOn;
	(void)logToStdOut;
	(void)logToStdErr;
	(void)logFileName;
	return CUBLAS_STATUS_SUCCESS;
}
