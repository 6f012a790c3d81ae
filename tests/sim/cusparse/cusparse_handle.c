/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/sim/cusparse/cusparse_desc.h"

TFS_SPARSE_API cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
	struct cusparseContext *h;

	if (!handle)
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (tfsim_device_count() < 1)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	h = calloc(1, sizeof(*h));
	if (!h)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	*handle = h;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	free(handle);
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!version)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*version = CUSPARSE_VERSION;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};

	if (!value || (int)type < 0 || type > PATCH_LEVEL)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*value = parts[type];
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId)
{
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	handle->stream = streamId;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *streamId)
{
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!streamId)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*streamId = handle->stream;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseSetPointerMode(
	cusparseHandle_t handle, cusparsePointerMode_t mode)
{
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (mode != CUSPARSE_POINTER_MODE_HOST && mode != CUSPARSE_POINTER_MODE_DEVICE)
		return CUSPARSE_STATUS_INVALID_VALUE;
	handle->pointers = mode;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseGetPointerMode(
	cusparseHandle_t handle, cusparsePointerMode_t *mode)
{
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!mode)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*mode = handle->pointers;
	return CUSPARSE_STATUS_SUCCESS;
}

static const struct {
	const char *name, *text;
} statuses[] = {
#define STATUS(name, text) [CUSPARSE_STATUS_##name] = {"CUSPARSE_STATUS_" #name, text}
	STATUS(SUCCESS, "success"),
	STATUS(NOT_INITIALIZED, "initialization error"),
	STATUS(ALLOC_FAILED, "out of memory"),
	STATUS(INVALID_VALUE, "invalid value"),
	STATUS(ARCH_MISMATCH, "architecture mismatch"),
	STATUS(MAPPING_ERROR, "texture memory mapping error"),
	STATUS(EXECUTION_FAILED, "kernel launch failure"),
	STATUS(INTERNAL_ERROR, "internal error"),
	STATUS(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported"),
	STATUS(ZERO_PIVOT, "zero pivot"),
	STATUS(NOT_SUPPORTED, "operation not supported"),
	STATUS(INSUFFICIENT_RESOURCES, "insufficient resources"),
};

static bool known(cusparseStatus_t status)
{
	return (int)status >= 0 && (size_t)status < sizeof(statuses) / sizeof(statuses[0]);
}

TFS_SPARSE_API const char *cusparseGetErrorName(cusparseStatus_t status)
{
	return known(status) ? statuses[status].name : "unrecognized error code";
}

TFS_SPARSE_API const char *cusparseGetErrorString(cusparseStatus_t status)
{
	return known(status) ? statuses[status].text : "unrecognized error code";
}
