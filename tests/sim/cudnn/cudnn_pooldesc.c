/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

#include <stdlib.h>

TFS_DNN_API cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t *poolingDesc)
{
	if (!poolingDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*poolingDesc = calloc(1, sizeof(**poolingDesc));
	return *poolingDesc ? CUDNN_STATUS_SUCCESS
			    : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t poolingDesc)
{
	free(poolingDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc,
	const cudnnPoolingMode_t mode, const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
	const int windowDimA[], const int paddingA[], const int strideA[])
{
	if (!poolingDesc || !windowDimA || !paddingA || !strideA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (nbDims < 1 || nbDims > CUDNN_DIM_MAX - 2)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "number of spatial dimensions");
	for (int i = 0; i < nbDims; i++)
		if (windowDimA[i] < 1 || paddingA[i] < 0 || strideA[i] < 1)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "window, padding or stride");
	poolingDesc->mode = mode;
	poolingDesc->nan = maxpoolingNanOpt;
	poolingDesc->nd = nbDims;
	for (int i = 0; i < nbDims; i++) {
		poolingDesc->win[i] = windowDimA[i];
		poolingDesc->pad[i] = paddingA[i];
		poolingDesc->stride[i] = strideA[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc,
	cudnnPoolingMode_t mode, cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight,
	int windowWidth, int verticalPadding, int horizontalPadding, int verticalStride,
	int horizontalStride)
{
	int win[2] = {windowHeight, windowWidth};
	int pad[2] = {verticalPadding, horizontalPadding};
	int stride[2] = {verticalStride, horizontalStride};

	return cudnnSetPoolingNdDescriptor(
		poolingDesc, mode, maxpoolingNanOpt, 2, win, pad, stride);
}

TFS_DNN_API cudnnStatus_t cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
	int nbDimsRequested, cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt,
	int *nbDims, int windowDimA[], int paddingA[], int strideA[])
{
	if (!poolingDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL descriptor");
	if (mode)
		*mode = poolingDesc->mode;
	if (maxpoolingNanOpt)
		*maxpoolingNanOpt = poolingDesc->nan;
	if (nbDims)
		*nbDims = poolingDesc->nd;
	for (int i = 0; i < poolingDesc->nd && i < nbDimsRequested; i++) {
		windowDimA[i] = poolingDesc->win[i];
		paddingA[i] = poolingDesc->pad[i];
		strideA[i] = poolingDesc->stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
	cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt, int *windowHeight,
	int *windowWidth, int *verticalPadding, int *horizontalPadding, int *verticalStride,
	int *horizontalStride)
{
	int *out[6] = {windowHeight, windowWidth, verticalPadding, horizontalPadding,
		verticalStride, horizontalStride};
	int all[6];
	int n = 0;
	cudnnStatus_t rc = cudnnGetPoolingNdDescriptor(
		poolingDesc, 2, mode, maxpoolingNanOpt, &n, all, all + 2, all + 4);

	if (rc)
		return rc;
	if (n != 2)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "not a 2-D pooling");
	for (int i = 0; i < 6; i++)
		if (out[i])
			*out[i] = all[i];
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(
	const cudnnPoolingDescriptor_t poolingDesc, const cudnnTensorDescriptor_t inputTensorDesc,
	int nbDims, int outputTensorDimA[])
{
	const struct tfs_view *x;

	if (!poolingDesc || !inputTensorDesc || !outputTensorDimA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	x = &inputTensorDesc->v;
	if (x->nd != poolingDesc->nd + 2 || nbDims < x->nd)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "number of dimensions");
	outputTensorDimA[0] = x->dim[0];
	outputTensorDimA[1] = x->dim[1];
	for (int i = 0; i < poolingDesc->nd; i++) {
		int room = x->dim[2 + i] + 2 * poolingDesc->pad[i] - poolingDesc->win[i];

		if (room < 0)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "the window exceeds the input");
		outputTensorDimA[2 + i] = room / poolingDesc->stride[i] + 1;
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetPooling2dForwardOutputDim(
	const cudnnPoolingDescriptor_t poolingDesc, const cudnnTensorDescriptor_t inputTensorDesc,
	int *n, int *c, int *h, int *w)
{
	int dim[CUDNN_DIM_MAX];
	cudnnStatus_t rc;

	if (!n || !c || !h || !w || !poolingDesc || poolingDesc->nd != 2)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "NULL argument or not 2-D");
	rc = cudnnGetPoolingNdForwardOutputDim(poolingDesc, inputTensorDesc, CUDNN_DIM_MAX, dim);
	if (rc)
		return rc;
	*n = dim[0];
	*c = dim[1];
	*h = dim[2];
	*w = dim[3];
	return CUDNN_STATUS_SUCCESS;
}
