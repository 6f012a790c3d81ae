/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

#include <stdlib.h>
#include <string.h>

size_t tfs_dnn_type_size(cudnnDataType_t type)
{
	switch (type) {
	case CUDNN_DATA_DOUBLE:
	case CUDNN_DATA_INT64:
	case CUDNN_DATA_COMPLEX_FP32:
		return 8;
	case CUDNN_DATA_FLOAT:
	case CUDNN_DATA_INT32:
	case CUDNN_DATA_UINT32:
		return 4;
	case CUDNN_DATA_HALF:
	case CUDNN_DATA_BFLOAT16:
		return 2;
	case CUDNN_DATA_INT8:
	case CUDNN_DATA_UINT8:
	case CUDNN_DATA_BOOLEAN:
	case CUDNN_DATA_FP8_E4M3:
	case CUDNN_DATA_FP8_E5M2:
		return 1;
	default:
		return 0;
	}
}

/* Dimension order in memory, slowest first; NHWC moves the channel to the end. */
static cudnnStatus_t lay_out(struct tfs_view *v, cudnnTensorFormat_t format, int nd, const int *dim)
{
	int64_t stride = 1;

	if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC)
		return CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
	for (int i = 0; i < nd; i++)
		if (dim[i] < 1)
			return CUDNN_STATUS_BAD_PARAM;
	v->nd = nd;
	memcpy(v->dim, dim, (size_t)nd * sizeof(*dim));
	if (format == CUDNN_TENSOR_NHWC && nd > 1) {
		v->stride[1] = 1;
		stride = dim[1];
	}
	for (int i = nd - 1; i >= 0; i--) {
		if (format == CUDNN_TENSOR_NHWC && i == 1)
			continue;
		if (stride > INT32_MAX)
			return CUDNN_STATUS_NOT_SUPPORTED;
		v->stride[i] = (int)stride;
		stride *= dim[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensorDesc)
{
	if (!tensorDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*tensorDesc = calloc(1, sizeof(**tensorDesc));
	return *tensorDesc ? CUDNN_STATUS_SUCCESS
			   : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc)
{
	free(tensorDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc,
	cudnnTensorFormat_t format, cudnnDataType_t dataType, int n, int c, int h, int w)
{
	int dim[4] = {n, c, h, w};

	return cudnnSetTensorNdDescriptorEx(tensorDesc, format, dataType, 4, dim);
}

TFS_DNN_API cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
	cudnnTensorFormat_t format, cudnnDataType_t dataType, int nbDims, const int dimA[])
{
	struct tfs_view v = {0};
	cudnnStatus_t rc;

	if (!tensorDesc || !dimA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (nbDims < 3 || nbDims > CUDNN_DIM_MAX)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "number of dimensions");
	rc = lay_out(&v, format, nbDims, dimA);
	if (rc)
		return tfs_dnn_fail(rc, "tensor dimensions or format");
	tensorDesc->type = dataType;
	tensorDesc->v = v;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc,
	cudnnDataType_t dataType, int nbDims, const int dimA[], const int strideA[])
{
	if (!tensorDesc || !dimA || !strideA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (nbDims < 3 || nbDims > CUDNN_DIM_MAX)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "number of dimensions");
	for (int i = 0; i < nbDims; i++)
		if (dimA[i] < 1 || strideA[i] < 1)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "dimension or stride below 1");
	tensorDesc->type = dataType;
	tensorDesc->v.nd = nbDims;
	memcpy(tensorDesc->v.dim, dimA, (size_t)nbDims * sizeof(int));
	memcpy(tensorDesc->v.stride, strideA, (size_t)nbDims * sizeof(int));
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
	cudnnDataType_t dataType, int n, int c, int h, int w, int nStride, int cStride, int hStride,
	int wStride)
{
	int dim[4] = {n, c, h, w};
	int stride[4] = {nStride, cStride, hStride, wStride};

	return cudnnSetTensorNdDescriptor(tensorDesc, dataType, 4, dim, stride);
}

TFS_DNN_API cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc,
	cudnnDataType_t *dataType, int *n, int *c, int *h, int *w, int *nStride, int *cStride,
	int *hStride, int *wStride)
{
	int *dim[4] = {n, c, h, w};
	int *stride[4] = {nStride, cStride, hStride, wStride};

	if (!tensorDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL descriptor");
	if (tensorDesc->v.nd != 4)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "not a 4-D descriptor");
	if (dataType)
		*dataType = tensorDesc->type;
	for (int i = 0; i < 4; i++) {
		if (dim[i])
			*dim[i] = tensorDesc->v.dim[i];
		if (stride[i])
			*stride[i] = tensorDesc->v.stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc,
	int nbDimsRequested, cudnnDataType_t *dataType, int *nbDims, int dimA[], int strideA[])
{
	int n;

	if (!tensorDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL descriptor");
	n = nbDimsRequested < tensorDesc->v.nd ? nbDimsRequested : tensorDesc->v.nd;
	if (dataType)
		*dataType = tensorDesc->type;
	if (nbDims)
		*nbDims = tensorDesc->v.nd;
	for (int i = 0; i < n; i++) {
		if (dimA)
			dimA[i] = tensorDesc->v.dim[i];
		if (strideA)
			strideA[i] = tensorDesc->v.stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetTensorSizeInBytes(
	const cudnnTensorDescriptor_t tensorDesc, size_t *size)
{
	if (!tensorDesc || !size)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	*size = tensorDesc->v.nd
			? tfs_view_span(&tensorDesc->v) * tfs_dnn_type_size(tensorDesc->type)
			: 0;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filterDesc)
{
	if (!filterDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*filterDesc = calloc(1, sizeof(**filterDesc));
	return *filterDesc ? CUDNN_STATUS_SUCCESS
			   : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filterDesc)
{
	free(filterDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc,
	cudnnDataType_t dataType, cudnnTensorFormat_t format, int nbDims, const int filterDimA[])
{
	struct tfs_view v = {0};
	cudnnStatus_t rc;

	if (!filterDesc || !filterDimA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (nbDims < 3 || nbDims > CUDNN_DIM_MAX)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "number of dimensions");
	rc = lay_out(&v, format, nbDims, filterDimA);
	if (rc)
		return tfs_dnn_fail(rc, "filter dimensions or format");
	filterDesc->type = dataType;
	filterDesc->format = format;
	filterDesc->v = v;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc,
	cudnnDataType_t dataType, cudnnTensorFormat_t format, int k, int c, int h, int w)
{
	int dim[4] = {k, c, h, w};

	return cudnnSetFilterNdDescriptor(filterDesc, dataType, format, 4, dim);
}

TFS_DNN_API cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc,
	cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *k, int *c, int *h, int *w)
{
	int *dim[4] = {k, c, h, w};

	if (!filterDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL descriptor");
	if (filterDesc->v.nd != 4)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "not a 4-D descriptor");
	if (dataType)
		*dataType = filterDesc->type;
	if (format)
		*format = filterDesc->format;
	for (int i = 0; i < 4; i++)
		if (dim[i])
			*dim[i] = filterDesc->v.dim[i];
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filterDesc,
	int nbDimsRequested, cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *nbDims,
	int filterDimA[])
{
	int n;

	if (!filterDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL descriptor");
	n = nbDimsRequested < filterDesc->v.nd ? nbDimsRequested : filterDesc->v.nd;
	if (dataType)
		*dataType = filterDesc->type;
	if (format)
		*format = filterDesc->format;
	if (nbDims)
		*nbDims = filterDesc->v.nd;
	for (int i = 0; i < n && filterDimA; i++)
		filterDimA[i] = filterDesc->v.dim[i];
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetFilterSizeInBytes(
	const cudnnFilterDescriptor_t filterDesc, size_t *size)
{
	if (!filterDesc || !size)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	*size = filterDesc->v.nd
			? tfs_view_count(&filterDesc->v) * tfs_dnn_type_size(filterDesc->type)
			: 0;
	return CUDNN_STATUS_SUCCESS;
}
