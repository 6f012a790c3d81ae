/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_search.h"

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(
	cudnnHandle_t handle, int *count)
{
	return tfs_dnn_search_count(handle, TFS_DNN_FWD, count);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionFwdAlgoPerf_t *perfResults)
{
	const struct tfs_dnn_question q = {TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc};

	return tfs_dnn_search_guess(handle, &q, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionFwdAlgoPerf_t *perfResults)
{
	const struct tfs_dnn_question q = {TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc};

	return tfs_dnn_search_alone(handle, &q, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnFilterDescriptor_t wDesc,
	const void *w, const cudnnConvolutionDescriptor_t convDesc,
	const cudnnTensorDescriptor_t yDesc, void *y, const int requestedAlgoCount,
	int *returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t *perfResults, void *workSpace,
	size_t workSpaceSizeInBytes)
{
	const struct tfs_dnn_question q = {TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc};

	return tfs_dnn_search_given(handle, &q, x && w ? y : NULL, workSpace, workSpaceSizeInBytes,
		requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
	cudnnConvolutionFwdAlgo_t algo, size_t *sizeInBytes)
{
	const struct tfs_dnn_question q = {TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc};

	return tfs_dnn_search_workspace(handle, &q, (int)algo, sizeInBytes);
}
