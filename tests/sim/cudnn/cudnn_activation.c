/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

#include <stdlib.h>

TFS_DNN_API cudnnStatus_t cudnnCreateActivationDescriptor(
	cudnnActivationDescriptor_t *activationDesc)
{
	if (!activationDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*activationDesc = calloc(1, sizeof(**activationDesc));
	if (!*activationDesc)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	(*activationDesc)->swish_beta = 1.0;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyActivationDescriptor(
	cudnnActivationDescriptor_t activationDesc)
{
	free(activationDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc,
	cudnnActivationMode_t mode, cudnnNanPropagation_t reluNanOpt, double coef)
{
	if (!activationDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if ((int)mode < CUDNN_ACTIVATION_SIGMOID || mode > CUDNN_ACTIVATION_SWISH)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "activation mode");
	activationDesc->mode = mode;
	activationDesc->nan = reluNanOpt;
	activationDesc->coef = coef;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetActivationDescriptor(
	const cudnnActivationDescriptor_t activationDesc, cudnnActivationMode_t *mode,
	cudnnNanPropagation_t *reluNanOpt, double *coef)
{
	if (!activationDesc || !mode || !reluNanOpt || !coef)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*mode = activationDesc->mode;
	*reluNanOpt = activationDesc->nan;
	*coef = activationDesc->coef;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(
	cudnnActivationDescriptor_t activationDesc, double swish_beta)
{
	if (!activationDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	activationDesc->swish_beta = swish_beta;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(
	cudnnActivationDescriptor_t activationDesc, double *swish_beta)
{
	if (!activationDesc || !swish_beta)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*swish_beta = activationDesc->swish_beta;
	return CUDNN_STATUS_SUCCESS;
}

/* Operand 0 is the output; views are copies, data pointers the program's. */
struct args {
	struct tfs_act act;
	struct tfs_blend s;
	struct tfs_view view[4];
	float *data[4];
};

static void run_forward(void *p)
{
	const struct args *a = p;

	tfs_math_act(&a->act, a->s, &a->view[1], a->data[1], &a->view[0], a->data[0]);
}

static void run_backward(void *p)
{
	const struct args *a = p;
	struct tfs_operand op[4];

	for (int i = 0; i < 4; i++)
		op[i] = (struct tfs_operand){a->data[i], &a->view[i]};
	tfs_math_act_grad(&a->act, a->s, op);
}

/* The model has to allow for what an exponential costs a CPU. */
static bool exponential(int mode)
{
	return mode != CUDNN_ACTIVATION_RELU && mode != CUDNN_ACTIVATION_CLIPPED_RELU;
}

static cudnnStatus_t submit(cudnnHandle_t handle, const char *name, void (*run)(void *),
	const struct args *a, int operands)
{
	struct tfs_dnn_work w = {.name = name, .run = run, .args = a, .args_size = sizeof(*a)};

	w.bytes = (uint64_t)operands * 4 * tfs_view_count(&a->view[0]);
	w.flops = (exponential(a->act.mode) ? 400 : 8) * tfs_view_count(&a->view[0]);
	w.writes[0] = a->data[0];
	w.write_bytes[0] = tfs_dnn_bytes(&a->view[0]);
	for (int i = 1; i < operands; i++) {
		w.reads[i - 1] = a->data[i];
		w.read_bytes[i - 1] = tfs_dnn_bytes(&a->view[i]);
	}
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle,
	cudnnActivationDescriptor_t activationDesc, const void *alpha,
	const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct args a = {.data = {y, (float *)x}};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){yDesc, xDesc}, 2);

	if (rc)
		return rc;
	if (!handle || !activationDesc || !alpha || !beta || !x || !y)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (activationDesc->mode == CUDNN_ACTIVATION_IDENTITY)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "identity is for fused calls only");
	if (!tfs_view_same_dims(&xDesc->v, &yDesc->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	a.act = tfs_dnn_act(activationDesc);
	a.s = tfs_dnn_blend(alpha, beta);
	a.view[0] = yDesc->v;
	a.view[1] = xDesc->v;
	return submit(handle, "tfsim_activation_fprop", run_forward, &a, 2);
}

TFS_DNN_API cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle,
	cudnnActivationDescriptor_t activationDesc, const void *alpha,
	const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct args a = {.data = {dx, (float *)y, (float *)dy, (float *)x}};
	cudnnTensorDescriptor_t all[4] = {dxDesc, yDesc, dyDesc, xDesc};
	cudnnStatus_t rc = tfs_dnn_check(all, 4);

	if (rc)
		return rc;
	if (!handle || !activationDesc || !alpha || !beta || !x || !y || !dx || !dy)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (activationDesc->mode == CUDNN_ACTIVATION_IDENTITY)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "identity is for fused calls only");
	for (int i = 0; i < 4; i++) {
		if (!tfs_view_same_dims(&all[i]->v, &dxDesc->v))
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
		a.view[i] = all[i]->v;
	}
	a.act = tfs_dnn_act(activationDesc);
	a.s = tfs_dnn_blend(alpha, beta);
	return submit(handle, "tfsim_activation_bprop", run_backward, &a, 4);
}
