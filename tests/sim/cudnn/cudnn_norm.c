/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_norm.h"

#include <string.h>

#include "tests/sim/cudnn/cudnn_desc.h"

TFS_DNN_API cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc,
	const cudnnTensorDescriptor_t xDesc, cudnnBatchNormMode_t mode)
{
	if (!derivedBnDesc || !xDesc || !xDesc->v.nd)
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor missing or unset");
	derivedBnDesc->type =
		xDesc->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
	derivedBnDesc->v = xDesc->v;
	derivedBnDesc->v.dim[0] = 1;
	for (int i = 2; i < xDesc->v.nd && mode != CUDNN_BATCHNORM_PER_ACTIVATION; i++)
		derivedBnDesc->v.dim[i] = 1;
	tfs_view_pack(&derivedBnDesc->v);
	return CUDNN_STATUS_SUCCESS;
}

struct args {
	struct tfs_norm norm;
	struct tfs_norm_stats stats;
	const float *x, *dy, *scale, *bias, *mean, *variance;
	float *out, *dscale, *dbias;
};

/* Checks the descriptors of one call; the parameters' one must be what Derive makes of x's. */
static cudnnStatus_t begin(struct args *a, cudnnBatchNormMode_t mode, double epsilon,
	const cudnnTensorDescriptor_t *desc, int n)
{
	const struct tfs_view *p;
	cudnnStatus_t rc = tfs_dnn_check(desc, n);

	if (rc)
		return rc;
	if ((int)mode < CUDNN_BATCHNORM_PER_ACTIVATION || mode > CUDNN_BATCHNORM_SPATIAL_PERSISTENT)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "mode");
	if (epsilon < CUDNN_BN_MIN_EPSILON)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "epsilon");
	for (int i = 1; i < n - 1; i++)
		if (!tfs_view_same_dims(&desc[i]->v, &desc[0]->v))
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	memset(a, 0, sizeof(*a));
	a->norm.per_activation = mode == CUDNN_BATCHNORM_PER_ACTIVATION;
	a->norm.epsilon = epsilon;
	a->norm.xv = desc[0]->v;
	p = &desc[n - 1]->v;
	if (tfs_view_count(p) != tfs_norm_params(a->norm.per_activation, &a->norm.xv))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "parameters");
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit(cudnnHandle_t handle, const char *name, void (*run)(void *),
	const struct args *a, unsigned passes)
{
	struct tfs_dnn_work w = {.name = name, .run = run, .args = a, .args_size = sizeof(*a)};
	size_t params = tfs_norm_params(a->norm.per_activation, &a->norm.xv) * sizeof(float);

	w.bytes = (uint64_t)passes * 4 * tfs_view_count(&a->norm.xv);
	/* The sums are taken in double, which the model has to allow for. */
	w.flops = (uint64_t)passes * 40 * tfs_view_count(&a->norm.xv);
	w.reads[0] = a->x;
	w.read_bytes[0] = tfs_dnn_bytes(&a->norm.xv);
	w.reads[1] = a->dy;
	w.read_bytes[1] = a->dy ? tfs_dnn_bytes(&a->norm.dyv) : 0;
	w.reads[2] = a->scale;
	w.read_bytes[2] = params;
	w.writes[0] = a->out;
	w.write_bytes[0] = tfs_dnn_bytes(a->dy ? &a->norm.dxv : &a->norm.yv);
	w.writes[1] = a->dscale;
	w.write_bytes[1] = params;
	w.writes[2] = a->dbias;
	w.write_bytes[2] = params;
	return tfs_dnn_submit(handle, &w);
}

static void run_train(void *p)
{
	const struct args *a = p;

	tfs_norm_train(&a->norm, a->x, a->scale, a->bias, &a->stats, a->out);
}

static void run_infer(void *p)
{
	const struct args *a = p;

	tfs_norm_infer(&a->norm, a->x, a->scale, a->bias, a->mean, a->variance, a->out);
}

static void run_grad(void *p)
{
	const struct args *a = p;

	tfs_norm_grad(
		&a->norm, a->x, a->dy, a->scale, a->mean, a->variance, a->out, a->dscale, a->dbias);
}

TFS_DNN_API cudnnStatus_t cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
	void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
	const void *bnBias, double exponentialAverageFactor, void *resultRunningMean,
	void *resultRunningVariance, double epsilon, void *resultSaveMean,
	void *resultSaveInvVariance)
{
	struct args a;
	cudnnTensorDescriptor_t desc[3] = {xDesc, yDesc, bnScaleBiasMeanVarDesc};
	cudnnStatus_t rc = begin(&a, mode, epsilon, desc, 3);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !x || !y || !bnScale || !bnBias)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!resultRunningMean != !resultRunningVariance ||
		!resultSaveMean != !resultSaveInvVariance)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "one of a pair of statistics is NULL");
	a.norm.yv = yDesc->v;
	a.norm.data = tfs_dnn_blend(alpha, beta);
	a.x = x;
	a.out = y;
	a.scale = bnScale;
	a.bias = bnBias;
	a.stats.factor = exponentialAverageFactor;
	a.stats.running_mean = resultRunningMean;
	a.stats.running_variance = resultRunningVariance;
	a.stats.saved_mean = resultSaveMean;
	a.stats.saved_inverse = resultSaveInvVariance;
	return submit(handle, "tfsim_bn_fprop_training", run_train, &a, 3);
}

TFS_DNN_API cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
	void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
	const void *bnBias, const void *estimatedMean, const void *estimatedVariance,
	double epsilon)
{
	struct args a;
	cudnnTensorDescriptor_t desc[3] = {xDesc, yDesc, bnScaleBiasMeanVarDesc};
	cudnnStatus_t rc = begin(&a, mode, epsilon, desc, 3);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !x || !y || !bnScale || !bnBias || !estimatedMean ||
		!estimatedVariance)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	a.norm.yv = yDesc->v;
	a.norm.data = tfs_dnn_blend(alpha, beta);
	a.x = x;
	a.out = y;
	a.scale = bnScale;
	a.bias = bnBias;
	a.mean = estimatedMean;
	a.variance = estimatedVariance;
	return submit(handle, "tfsim_bn_fprop_inference", run_infer, &a, 2);
}

TFS_DNN_API cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t handle,
	cudnnBatchNormMode_t mode, const void *alphaDataDiff, const void *betaDataDiff,
	const void *alphaParamDiff, const void *betaParamDiff, const cudnnTensorDescriptor_t xDesc,
	const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
	const cudnnTensorDescriptor_t dxDesc, void *dx,
	const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScale, void *dBnScaleResult,
	void *dBnBiasResult, double epsilon, const void *savedMean, const void *savedInvVariance)
{
	struct args a;
	cudnnTensorDescriptor_t desc[4] = {xDesc, dyDesc, dxDesc, dBnScaleBiasDesc};
	cudnnStatus_t rc = begin(&a, mode, epsilon, desc, 4);

	if (rc)
		return rc;
	if (!handle || !alphaDataDiff || !betaDataDiff || !alphaParamDiff || !betaParamDiff || !x ||
		!dy || !dx || !bnScale || !dBnScaleResult || !dBnBiasResult)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!savedMean != !savedInvVariance)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "one of a pair of statistics is NULL");
	a.norm.dyv = dyDesc->v;
	a.norm.dxv = dxDesc->v;
	a.norm.data = tfs_dnn_blend(alphaDataDiff, betaDataDiff);
	a.norm.param = tfs_dnn_blend(alphaParamDiff, betaParamDiff);
	a.x = x;
	a.dy = dy;
	a.scale = bnScale;
	a.mean = savedMean;
	a.variance = savedInvVariance;
	a.out = dx;
	a.dscale = dBnScaleResult;
	a.dbias = dBnBiasResult;
	return submit(handle, "tfsim_bn_bprop", run_grad, &a, 5);
}
