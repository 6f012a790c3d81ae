/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_search.h"

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
	cudnnHandle_t handle, int *count)
{
	return tfs_dnn_search_count(handle, TFS_DNN_FILTER, count);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdFilterAlgoPerf_t *perfResults)
{
	const struct tfs_dnn_question q = {TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc};

	return tfs_dnn_search_guess(handle, &q, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdFilterAlgoPerf_t *perfResults)
{
	const struct tfs_dnn_question q = {TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc};

	return tfs_dnn_search_alone(handle, &q, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnConvolutionDescriptor_t convDesc,
	const cudnnFilterDescriptor_t dwDesc, void *dw, const int requestedAlgoCount,
	int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults, void *workSpace,
	size_t workSpaceSizeInBytes)
{
	const struct tfs_dnn_question q = {TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc};

	return tfs_dnn_search_given(handle, &q, x && dy ? dw : NULL, workSpace,
		workSpaceSizeInBytes, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
	cudnnConvolutionBwdFilterAlgo_t algo, size_t *sizeInBytes)
{
	const struct tfs_dnn_question q = {TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc};

	return tfs_dnn_search_workspace(handle, &q, (int)algo, sizeInBytes);
}
