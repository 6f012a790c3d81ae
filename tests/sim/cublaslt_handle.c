/* SPDX-License-Identifier: MIT */
/* cuBLASLt so far: a handle to have and versions to ask for; everything else is a stub. */
#include <cublasLt.h>
#include <stdlib.h>

#include "core.h"

struct cublasLtContext {
	int device;
};

cublasStatus_t cublasLtCreate(cublasLtHandle_t *lightHandle)
{
	if (!lightHandle)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!tfsim_device_count())
		return CUBLAS_STATUS_NOT_INITIALIZED;
	*lightHandle = malloc(sizeof(**lightHandle));
	if (!*lightHandle)
		return CUBLAS_STATUS_ALLOC_FAILED;
	(*lightHandle)->device = tfsim_device_current();
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle)
{
	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	free(lightHandle);
	return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void)
{
	return CUBLAS_VERSION;
}

size_t cublasLtGetCudartVersion(void)
{
	return CUDART_VERSION;
}

const char *cublasLtGetStatusName(cublasStatus_t status)
{
	switch (status) {
	case CUBLAS_STATUS_SUCCESS:
		return "CUBLAS_STATUS_SUCCESS";
	case CUBLAS_STATUS_NOT_INITIALIZED:
		return "CUBLAS_STATUS_NOT_INITIALIZED";
	case CUBLAS_STATUS_ALLOC_FAILED:
		return "CUBLAS_STATUS_ALLOC_FAILED";
	case CUBLAS_STATUS_INVALID_VALUE:
		return "CUBLAS_STATUS_INVALID_VALUE";
	case CUBLAS_STATUS_NOT_SUPPORTED:
		return "CUBLAS_STATUS_NOT_SUPPORTED";
	default:
		return "unknown";
	}
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
	return cublasLtGetStatusName(status);
}
