/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn_search.h"

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(
	cudnnHandle_t handle, int *count)
{
	if (!handle || !count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	/* Each once per math type. */
	*count = 2 * tfs_dnn_algo_count(TFS_DNN_FWD);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionFwdAlgoPerf_t *perfResults)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc);

	if (rc)
		return rc;
	return tfs_dnn_search_guess(handle, &p, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionFwdAlgoPerf_t *perfResults)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc);

	if (rc)
		return rc;
	return tfs_dnn_search_alone(handle, &p, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnFilterDescriptor_t wDesc,
	const void *w, const cudnnConvolutionDescriptor_t convDesc,
	const cudnnTensorDescriptor_t yDesc, void *y, const int requestedAlgoCount,
	int *returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t *perfResults, void *workSpace,
	size_t workSpaceSizeInBytes)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc);
	struct tfs_dnn_target t = {y, &p.y, workSpace, workSpace ? workSpaceSizeInBytes : 0};

	if (rc)
		return rc;
	if (!handle || !x || !w || !y)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	return tfs_dnn_search_measure(handle, &p, &t, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle,
	const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
	cudnnConvolutionFwdAlgo_t algo, size_t *sizeInBytes)
{
	struct tfs_dnn_problem p;
	const struct tfs_dnn_algo *a;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc);

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
