/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_search.h"

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
	cudnnHandle_t handle, int *count)
{
	return tfs_dnn_search_count(handle, TFS_DNN_DATA, count);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdDataAlgoPerf_t *perfResults)
{
	const struct tfs_dnn_question q = {TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc};

	return tfs_dnn_search_guess(handle, &q, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdDataAlgoPerf_t *perfResults)
{
	const struct tfs_dnn_question q = {TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc};

	return tfs_dnn_search_alone(handle, &q, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnConvolutionDescriptor_t convDesc,
	const cudnnTensorDescriptor_t dxDesc, void *dx, const int requestedAlgoCount,
	int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults, void *workSpace,
	size_t workSpaceSizeInBytes)
{
	const struct tfs_dnn_question q = {TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc};

	return tfs_dnn_search_given(handle, &q, w && dy ? dx : NULL, workSpace,
		workSpaceSizeInBytes, requestedAlgoCount, returnedAlgoCount, perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
	cudnnConvolutionBwdDataAlgo_t algo, size_t *sizeInBytes)
{
	const struct tfs_dnn_question q = {TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc};

	return tfs_dnn_search_workspace(handle, &q, (int)algo, sizeInBytes);
}
