/* SPDX-License-Identifier: MIT */
#include <cudnn.h>

#include "shim/hook.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

TFS_PLAIN_HOOK(cudnnStatus_t, cudnnGetConvolutionForwardAlgorithm_v7,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
		const cudnnFilterDescriptor_t filterDesc,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t destDesc,
		const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionFwdAlgoPerf_t *perfResults),
	(handle, srcDesc, filterDesc, convDesc, destDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnGetConvolutionBackwardDataAlgorithm_v7,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc,
		const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t gradDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults),
	(handle, filterDesc, diffDesc, convDesc, gradDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
		const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnFilterDescriptor_t gradDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults),
	(handle, srcDesc, diffDesc, convDesc, gradDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnFindConvolutionForwardAlgorithm,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
		const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t yDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t *perfResults),
	(handle, xDesc, wDesc, convDesc, yDesc, requestedAlgoCount, returnedAlgoCount, perfResults))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnFindConvolutionBackwardDataAlgorithm,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc,
		const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t dxDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults),
	(handle, wDesc, dyDesc, convDesc, dxDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnFindConvolutionBackwardFilterAlgorithm,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
		const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnFilterDescriptor_t dwDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults),
	(handle, xDesc, dyDesc, convDesc, dwDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnFindConvolutionForwardAlgorithmEx,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void *x,
		const cudnnFilterDescriptor_t wDesc, const void *w,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
		void *y, const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionFwdAlgoPerf_t *perfResults, void *workSpace,
		size_t workSpaceSizeInBytes),
	(handle, xDesc, x, wDesc, w, convDesc, yDesc, y, requestedAlgoCount, returnedAlgoCount,
		perfResults, workSpace, workSpaceSizeInBytes))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnFindConvolutionBackwardDataAlgorithmEx,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc, const void *w,
		const cudnnTensorDescriptor_t dyDesc, const void *dy,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
		void *dx, const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionBwdDataAlgoPerf_t *perfResults, void *workSpace,
		size_t workSpaceSizeInBytes),
	(handle, wDesc, w, dyDesc, dy, convDesc, dxDesc, dx, requestedAlgoCount, returnedAlgoCount,
		perfResults, workSpace, workSpaceSizeInBytes))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnFindConvolutionBackwardFilterAlgorithmEx,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void *x,
		const cudnnTensorDescriptor_t dyDesc, const void *y,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
		void *dw, const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionBwdFilterAlgoPerf_t *perfResults, void *workSpace,
		size_t workSpaceSizeInBytes),
	(handle, xDesc, x, dyDesc, y, convDesc, dwDesc, dw, requestedAlgoCount, returnedAlgoCount,
		perfResults, workSpace, workSpaceSizeInBytes))

#define FUNCTIONS(X)                                                                               \
	X(cudnnGetConvolutionForwardAlgorithm_v7, conv_get)                                        \
	X(cudnnGetConvolutionBackwardDataAlgorithm_v7, conv_get)                                   \
	X(cudnnGetConvolutionBackwardFilterAlgorithm_v7, conv_get)                                 \
	X(cudnnFindConvolutionForwardAlgorithm, conv_find)                                         \
	X(cudnnFindConvolutionBackwardDataAlgorithm, conv_find)                                    \
	X(cudnnFindConvolutionBackwardFilterAlgorithm, conv_find)                                  \
	X(cudnnFindConvolutionForwardAlgorithmEx, conv_find)                                       \
	X(cudnnFindConvolutionBackwardDataAlgorithmEx, conv_find)                                  \
	X(cudnnFindConvolutionBackwardFilterAlgorithmEx, conv_find)

TFS_FAMILY(cudnn_search, FUNCTIONS);
