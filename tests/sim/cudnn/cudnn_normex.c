/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

/*
 * The Ex forms of batch normalization. Fused activations need NHWC half tensors, which the
 * simulated device does not compute with; without them an Ex call is the plain one, which wants
 * neither workspace nor reserve space.
 */

static cudnnStatus_t plain(cudnnBatchNormOps_t ops)
{
	if (ops == CUDNN_BATCHNORM_OPS_BN)
		return CUDNN_STATUS_SUCCESS;
	return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "fused batch normalization");
}

static cudnnStatus_t no_memory(cudnnBatchNormOps_t ops, size_t *size)
{
	if (!size)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*size = 0;
	return plain(ops);
}

TFS_DNN_API cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
	const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc,
	const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
	const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes)
{
	(void)handle;
	(void)mode;
	(void)xDesc;
	(void)zDesc;
	(void)yDesc;
	(void)bnScaleBiasMeanVarDesc;
	(void)activationDesc;
	return no_memory(bnOps, sizeInBytes);
}

TFS_DNN_API cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const cudnnTensorDescriptor_t xDesc,
	const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t dyDesc,
	const cudnnTensorDescriptor_t dzDesc, const cudnnTensorDescriptor_t dxDesc,
	const cudnnTensorDescriptor_t dBnScaleBiasDesc,
	const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes)
{
	(void)handle;
	(void)mode;
	(void)xDesc;
	(void)yDesc;
	(void)dyDesc;
	(void)dzDesc;
	(void)dxDesc;
	(void)dBnScaleBiasDesc;
	(void)activationDesc;
	return no_memory(bnOps, sizeInBytes);
}

TFS_DNN_API cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
	const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t xDesc,
	size_t *sizeInBytes)
{
	(void)handle;
	(void)mode;
	(void)activationDesc;
	(void)xDesc;
	return no_memory(bnOps, sizeInBytes);
}

TFS_DNN_API cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alpha, const void *beta,
	const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t zDesc,
	const void *zData, const cudnnTensorDescriptor_t yDesc, void *yData,
	const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
	const void *bnBias, double exponentialAverageFactor, void *resultRunningMean,
	void *resultRunningVariance, double epsilon, void *resultSaveMean,
	void *resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc, void *workspace,
	size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
	cudnnStatus_t rc = plain(bnOps);

	(void)zDesc;
	(void)zData;
	(void)activationDesc;
	(void)workspace;
	(void)workSpaceSizeInBytes;
	(void)reserveSpace;
	(void)reserveSpaceSizeInBytes;
	if (rc)
		return rc;
	return cudnnBatchNormalizationForwardTraining(handle, mode, alpha, beta, xDesc, xData,
		yDesc, yData, bnScaleBiasMeanVarDesc, bnScale, bnBias, exponentialAverageFactor,
		resultRunningMean, resultRunningVariance, epsilon, resultSaveMean,
		resultSaveInvVariance);
}

TFS_DNN_API cudnnStatus_t cudnnBatchNormalizationBackwardEx(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alphaDataDiff,
	const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
	const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc,
	const void *yData, const cudnnTensorDescriptor_t dyDesc, const void *dyData,
	const cudnnTensorDescriptor_t dzDesc, void *dzData, const cudnnTensorDescriptor_t dxDesc,
	void *dxData, const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScaleData,
	const void *bnBiasData, void *dBnScaleData, void *dBnBiasData, double epsilon,
	const void *savedMean, const void *savedInvVariance,
	cudnnActivationDescriptor_t activationDesc, void *workSpace, size_t workSpaceSizeInBytes,
	void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
	cudnnStatus_t rc = plain(bnOps);

	(void)yDesc;
	(void)yData;
	(void)dzDesc;
	(void)dzData;
	(void)bnBiasData;
	(void)activationDesc;
	(void)workSpace;
	(void)workSpaceSizeInBytes;
	(void)reserveSpace;
	(void)reserveSpaceSizeInBytes;
	if (rc)
		return rc;
	return cudnnBatchNormalizationBackward(handle, mode, alphaDataDiff, betaDataDiff,
		alphaParamDiff, betaParamDiff, xDesc, xData, dyDesc, dyData, dxDesc, dxData,
		dBnScaleBiasDesc, bnScaleData, dBnScaleData, dBnBiasData, epsilon, savedMean,
		savedInvVariance);
}
