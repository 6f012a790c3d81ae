/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/sim/cublas/cublaslt_desc.h"

TFS_LT_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *lightHandle)
{
	struct cublasLtContext *h;

	if (!lightHandle)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (tfsim_device_count() < 1)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	h = calloc(1, sizeof(*h));
	/* One of the pages that the device takes memory in. */
	if (!h || tfsim_library_alloc((size_t)2 << 20, &h->memory)) {
		free(h);
		return CUBLAS_STATUS_ALLOC_FAILED;
	}
	h->device = tfsim_device_current();
	*lightHandle = h;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle)
{
	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	tfsim_library_free(&lightHandle->memory);
	free(lightHandle);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API size_t cublasLtGetVersion(void)
{
	return CUBLAS_VERSION;
}

TFS_LT_API size_t cublasLtGetCudartVersion(void)
{
	return CUDART_VERSION;
}

TFS_LT_API cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};

	if (!value || (int)type < 0 || type > PATCH_LEVEL)
		return CUBLAS_STATUS_INVALID_VALUE;
	*value = parts[type];
	return CUBLAS_STATUS_SUCCESS;
}

/* The statuses are cuBLAS' own, and so are their words. */
TFS_LT_API const char *cublasLtGetStatusString(cublasStatus_t status)
{
	return cublasGetStatusString(status);
}

TFS_LT_API const char *cublasLtGetStatusName(cublasStatus_t status)
{
	return cublasGetStatusName(status);
}

TFS_LT_API cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
	if (!capacity)
		return CUBLAS_STATUS_INVALID_VALUE;
	*capacity = 0;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
	(void)capacity;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtLoggerSetLevel(int level)
{
	(void)level;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtLoggerSetMask(int mask)
{
	(void)mask;
	return CUBLAS_STATUS_SUCCESS;
}

/* Its header has no prototype. */
TFS_LT_API cublasStatus_t cublasLtLoggerForceDisable(void);
TFS_LT_API cublasStatus_t cublasLtLoggerForceDisable(void)
{
	return CUBLAS_STATUS_SUCCESS;
}
