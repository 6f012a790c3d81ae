/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn_search.h"

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
	cudnnHandle_t handle, int *count)
{
	if (!handle || !count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	/* Each once per math type. */
	*count = 2 * tfs_dnn_algo_count(TFS_DNN_DATA);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdDataAlgoPerf_t *perfResults)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc);

	if (rc)
		return rc;
	return tfs_dnn_search_guess(handle, &p, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
	const int requestedAlgoCount, int *returnedAlgoCount,
	cudnnConvolutionBwdDataAlgoPerf_t *perfResults)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc);

	if (rc)
		return rc;
	return tfs_dnn_search_alone(handle, &p, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnConvolutionDescriptor_t convDesc,
	const cudnnTensorDescriptor_t dxDesc, void *dx, const int requestedAlgoCount,
	int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults, void *workSpace,
	size_t workSpaceSizeInBytes)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc);
	struct tfs_dnn_target t = {dx, &p.x, workSpace, workSpace ? workSpaceSizeInBytes : 0};

	if (rc)
		return rc;
	if (!handle || !w || !dy || !dx)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	return tfs_dnn_search_measure(handle, &p, &t, requestedAlgoCount, returnedAlgoCount,
		(struct tfs_dnn_perf *)perfResults);
}

TFS_DNN_API cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle,
	const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
	cudnnConvolutionBwdDataAlgo_t algo, size_t *sizeInBytes)
{
	struct tfs_dnn_problem p;
	const struct tfs_dnn_algo *a;
	cudnnStatus_t rc = tfs_dnn_problem_init(&p, TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc);

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
