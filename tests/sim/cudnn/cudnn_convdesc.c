/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_conv.h"

#include <stdlib.h>

TFS_DNN_API cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convDesc)
{
	if (!convDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*convDesc = calloc(1, sizeof(**convDesc));
	if (!*convDesc)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	(*convDesc)->groups = 1;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc)
{
	free(convDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetConvolutionMathType(
	cudnnConvolutionDescriptor_t convDesc, cudnnMathType_t mathType)
{
	if (!convDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if ((int)mathType < CUDNN_DEFAULT_MATH || mathType > CUDNN_FMA_MATH)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "math type");
	convDesc->math = mathType;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionMathType(
	cudnnConvolutionDescriptor_t convDesc, cudnnMathType_t *mathType)
{
	if (!convDesc || !mathType)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*mathType = convDesc->math;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetConvolutionGroupCount(
	cudnnConvolutionDescriptor_t convDesc, int groupCount)
{
	if (!convDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if (groupCount < 1)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "group count below 1");
	convDesc->groups = groupCount;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionGroupCount(
	cudnnConvolutionDescriptor_t convDesc, int *groupCount)
{
	if (!convDesc || !groupCount)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*groupCount = convDesc->groups;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetConvolutionReorderType(
	cudnnConvolutionDescriptor_t convDesc, cudnnReorderType_t reorderType)
{
	if (!convDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	convDesc->reorder = reorderType;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionReorderType(
	cudnnConvolutionDescriptor_t convDesc, cudnnReorderType_t *reorderType)
{
	if (!convDesc || !reorderType)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*reorderType = convDesc->reorder;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc,
	int arrayLength, const int padA[], const int filterStrideA[], const int dilationA[],
	cudnnConvolutionMode_t mode, cudnnDataType_t computeType)
{
	if (!convDesc || !padA || !filterStrideA || !dilationA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (arrayLength < 1 || arrayLength > CUDNN_DIM_MAX - 2)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "number of spatial dimensions");
	for (int i = 0; i < arrayLength; i++)
		if (padA[i] < 0 || filterStrideA[i] < 1 || dilationA[i] < 1)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "padding, stride or dilation");
	convDesc->nd = arrayLength;
	for (int i = 0; i < arrayLength; i++) {
		convDesc->pad[i] = padA[i];
		convDesc->stride[i] = filterStrideA[i];
		convDesc->dil[i] = dilationA[i];
	}
	convDesc->mode = mode;
	convDesc->compute = computeType;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc,
	int pad_h, int pad_w, int u, int v, int dilation_h, int dilation_w,
	cudnnConvolutionMode_t mode, cudnnDataType_t computeType)
{
	int pad[2] = {pad_h, pad_w};
	int stride[2] = {u, v};
	int dil[2] = {dilation_h, dilation_w};

	return cudnnSetConvolutionNdDescriptor(convDesc, 2, pad, stride, dil, mode, computeType);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolution2dDescriptor(
	const cudnnConvolutionDescriptor_t convDesc, int *pad_h, int *pad_w, int *u, int *v,
	int *dilation_h, int *dilation_w, cudnnConvolutionMode_t *mode,
	cudnnDataType_t *computeType)
{
	int pad[2], stride[2], dil[2];
	int n;
	cudnnStatus_t rc = cudnnGetConvolutionNdDescriptor(
		convDesc, 2, &n, pad, stride, dil, mode, computeType);

	if (rc)
		return rc;
	if (n != 2)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "not a 2-D convolution");
	if (pad_h && pad_w) {
		*pad_h = pad[0];
		*pad_w = pad[1];
	}
	if (u && v) {
		*u = stride[0];
		*v = stride[1];
	}
	if (dilation_h && dilation_w) {
		*dilation_h = dil[0];
		*dilation_w = dil[1];
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionNdDescriptor(
	const cudnnConvolutionDescriptor_t convDesc, int arrayLengthRequested, int *arrayLength,
	int padA[], int strideA[], int dilationA[], cudnnConvolutionMode_t *mode,
	cudnnDataType_t *computeType)
{
	if (!convDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL descriptor");
	if (arrayLength)
		*arrayLength = convDesc->nd;
	for (int i = 0; i < convDesc->nd && i < arrayLengthRequested; i++) {
		if (padA)
			padA[i] = convDesc->pad[i];
		if (strideA)
			strideA[i] = convDesc->stride[i];
		if (dilationA)
			dilationA[i] = convDesc->dil[i];
	}
	if (mode)
		*mode = convDesc->mode;
	if (computeType)
		*computeType = convDesc->compute;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_dnn_conv_dims(const struct cudnnConvolutionStruct *conv, const struct tfs_view *x,
	const struct tfs_view *w, struct tfs_view *out_y)
{
	if (!conv->nd || x->nd != conv->nd + 2 || w->nd != x->nd)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "numbers of dimensions");
	if (x->dim[1] != w->dim[1] * conv->groups || w->dim[0] % conv->groups)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "channels and groups");
	out_y->nd = x->nd;
	out_y->dim[0] = x->dim[0];
	out_y->dim[1] = w->dim[0];
	for (int i = 0; i < conv->nd; i++) {
		int window = (w->dim[2 + i] - 1) * conv->dil[i] + 1;
		int room = x->dim[2 + i] + 2 * conv->pad[i] - window;

		if (room < 0)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "the filter exceeds the input");
		out_y->dim[2 + i] = room / conv->stride[i] + 1;
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
	const cudnnFilterDescriptor_t filterDesc, int nbDims, int tensorOuputDimA[])
{
	struct tfs_view y = {0};
	cudnnStatus_t rc;

	if (!convDesc || !inputTensorDesc || !filterDesc || !tensorOuputDimA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = tfs_dnn_conv_dims(convDesc, &inputTensorDesc->v, &filterDesc->v, &y);
	if (rc)
		return rc;
	if (nbDims < y.nd)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "nbDims is too small");
	for (int i = 0; i < y.nd; i++)
		tensorOuputDimA[i] = y.dim[i];
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
	const cudnnFilterDescriptor_t filterDesc, int *n, int *c, int *h, int *w)
{
	int dim[CUDNN_DIM_MAX];
	cudnnStatus_t rc;

	if (!n || !c || !h || !w || !convDesc || convDesc->nd != 2)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "NULL argument or not 2-D");
	rc = cudnnGetConvolutionNdForwardOutputDim(
		convDesc, inputTensorDesc, filterDesc, CUDNN_DIM_MAX, dim);
	if (rc)
		return rc;
	*n = dim[0];
	*c = dim[1];
	*h = dim[2];
	*w = dim[3];
	return CUDNN_STATUS_SUCCESS;
}
