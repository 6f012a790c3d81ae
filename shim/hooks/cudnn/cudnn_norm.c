/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cudnn.h>

#include "shim/hooks/cudnn.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

TFS_HOOK(cudnnStatus_t, cudnnBatchNormalizationForwardTraining,
	(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
		const cudnnTensorDescriptor_t x_descriptor, const void *x,
		const cudnnTensorDescriptor_t y_descriptor, void *y,
		const cudnnTensorDescriptor_t p_descriptor, const void *scale, const void *bias,
		double factor, void *running_mean, void *running_variance, double epsilon,
		void *saved_mean, void *saved_variance))
{
	struct tfs_frame frame = TFS_ENTER(cudnnBatchNormalizationForwardTraining);
	const cudnnStatus_t status = TFS_REAL(cudnnBatchNormalizationForwardTraining)(handle, mode,
		alpha, beta, x_descriptor, x, y_descriptor, y, p_descriptor, scale, bias, factor,
		running_mean, running_variance, epsilon, saved_mean, saved_variance);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;
		const uint32_t update = TFS_ROLE_READ | TFS_ROLE_WRITE;

		tfs_cudnn_details(&details, handle);
		const int type = tfs_put_tensor(&details, x_descriptor, x, TFS_ROLE_READ);
		tfs_put_tensor(
			&details, y_descriptor, y, tfs_put_scalars(&details, alpha, beta, type));
		tfs_put_tensor(&details, p_descriptor, scale, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, bias, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, running_mean, update);
		tfs_put_tensor(&details, p_descriptor, running_variance, update);
		tfs_put_tensor(&details, p_descriptor, saved_mean, TFS_ROLE_WRITE);
		tfs_put_tensor(&details, p_descriptor, saved_variance, TFS_ROLE_WRITE);
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnBatchNormalizationForwardInference,
	(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
		const cudnnTensorDescriptor_t x_descriptor, const void *x,
		const cudnnTensorDescriptor_t y_descriptor, void *y,
		const cudnnTensorDescriptor_t p_descriptor, const void *scale, const void *bias,
		const void *mean, const void *variance, double epsilon))
{
	struct tfs_frame frame = TFS_ENTER(cudnnBatchNormalizationForwardInference);
	const cudnnStatus_t status = TFS_REAL(cudnnBatchNormalizationForwardInference)(handle, mode,
		alpha, beta, x_descriptor, x, y_descriptor, y, p_descriptor, scale, bias, mean,
		variance, epsilon);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;

		tfs_cudnn_details(&details, handle);
		const int type = tfs_put_tensor(&details, x_descriptor, x, TFS_ROLE_READ);
		tfs_put_tensor(
			&details, y_descriptor, y, tfs_put_scalars(&details, alpha, beta, type));
		tfs_put_tensor(&details, p_descriptor, scale, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, bias, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, mean, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, variance, TFS_ROLE_READ);
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnBatchNormalizationBackward,
	(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
		const void *p_alpha, const void *p_beta, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx,
		const cudnnTensorDescriptor_t p_descriptor, const void *scale, void *dscale,
		void *dbias, double epsilon, const void *saved_mean, const void *saved_variance))
{
	struct tfs_frame frame = TFS_ENTER(cudnnBatchNormalizationBackward);
	const cudnnStatus_t status = TFS_REAL(cudnnBatchNormalizationBackward)(handle, mode, alpha,
		beta, p_alpha, p_beta, x_descriptor, x, dy_descriptor, dy, dx_descriptor, dx,
		p_descriptor, scale, dscale, dbias, epsilon, saved_mean, saved_variance);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;

		tfs_cudnn_details(&details, handle);
		const int type = tfs_put_tensor(&details, x_descriptor, x, TFS_ROLE_READ);
		const uint32_t written = tfs_cudnn_scalar(p_beta, type) != 0
						 ? TFS_ROLE_READ | TFS_ROLE_WRITE
						 : TFS_ROLE_WRITE;
		tfs_put_tensor(&details, dy_descriptor, dy, TFS_ROLE_READ);
		tfs_put_tensor(
			&details, dx_descriptor, dx, tfs_put_scalars(&details, alpha, beta, type));
		tfs_put_tensor(&details, p_descriptor, scale, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, dscale, written);
		tfs_put_tensor(&details, p_descriptor, dbias, written);
		tfs_put_tensor(&details, p_descriptor, saved_mean, TFS_ROLE_READ);
		tfs_put_tensor(&details, p_descriptor, saved_variance, TFS_ROLE_READ);
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudnnBatchNormalizationForwardTraining, normalisation)                                   \
	X(cudnnBatchNormalizationForwardInference, normalisation)                                  \
	X(cudnnBatchNormalizationBackward, normalisation)

FUNCTIONS(TFS_FUNCTION_ROW)
