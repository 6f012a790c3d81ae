/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn_search.h"

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
	cudnnHandle_t handle, int *count)
{
	if (!handle || !count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	/* Each once per math type. */
	*count = 2 * tfs_dnn_algo_count(TFS_DNN_FILTER);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdFilterAlgoPerf_t *perfResults)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc =
		tfs_dnn_problem_init(&p, TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc);

	if (rc)
		return rc;
	return tfs_dnn_search_guess(handle, &p, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdFilterAlgoPerf_t *perfResults)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc =
		tfs_dnn_problem_init(&p, TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc);

	if (rc)
		return rc;
	return tfs_dnn_search_alone(handle, &p, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnConvolutionDescriptor_t convDesc,
	const cudnnFilterDescriptor_t dwDesc, void *dw, const int requestedAlgoCount,
	int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults, void *workSpace,
	size_t workSpaceSizeInBytes)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc =
		tfs_dnn_problem_init(&p, TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc);
	struct tfs_dnn_target t = {dw, &p.w, workSpace, workSpace ? workSpaceSizeInBytes : 0};

	if (rc)
		return rc;
	if (!handle || !x || !dy || !dw)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	return tfs_dnn_search_measure(handle, &p, &t, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
	cudnnConvolutionBwdFilterAlgo_t algo, size_t *sizeInBytes)
{
	struct tfs_dnn_problem p;
	const struct tfs_dnn_algo *a;
	cudnnStatus_t rc =
		tfs_dnn_problem_init(&p, TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc);

	if (rc)
		return rc;
	if (!handle || !sizeInBytes)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	a = tfs_dnn_algo_find(&p, (int)algo);
	if (!a)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "algorithm for this problem");
	*sizeInBytes = a->workspace(&p);
	return CUDNN_STATUS_SUCCESS;
}
