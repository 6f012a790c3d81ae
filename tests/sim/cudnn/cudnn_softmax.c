/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

struct args {
	enum tfs_softmax algo;
	bool per_instance;
	struct tfs_blend s;
	struct tfs_view view[3];
	float *data[3]; /* output first */
};

static void run_forward(void *p)
{
	const struct args *a = p;

	tfs_math_softmax(
		a->algo, a->per_instance, a->s, &a->view[1], a->data[1], &a->view[0], a->data[0]);
}

static void run_backward(void *p)
{
	const struct args *a = p;

	tfs_math_softmax_grad(a->algo, a->per_instance, a->s, &a->view[1], a->data[1], &a->view[2],
		a->data[2], &a->view[0], a->data[0]);
}

static cudnnStatus_t submit(cudnnHandle_t handle, const char *name, void (*run)(void *),
	struct args *a, const cudnnTensorDescriptor_t *desc, int n)
{
	struct tfs_dnn_work w = {.name = name, .run = run, .args = a, .args_size = sizeof(*a)};

	for (int i = 0; i < n; i++) {
		if (!tfs_view_same_dims(&desc[i]->v, &desc[0]->v))
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
		a->view[i] = desc[i]->v;
		if (i == 0)
			continue;
		w.reads[i - 1] = a->data[i];
		w.read_bytes[i - 1] = tfs_dnn_bytes(&a->view[i]);
	}
	w.writes[0] = a->data[0];
	w.write_bytes[0] = tfs_dnn_bytes(&a->view[0]);
	w.bytes = (uint64_t)n * 4 * tfs_view_count(&a->view[0]);
	w.flops = 400 * tfs_view_count(&a->view[0]);
	return tfs_dnn_submit(handle, &w);
}

static bool known(cudnnSoftmaxAlgorithm_t algo, cudnnSoftmaxMode_t mode)
{
	return (int)algo >= CUDNN_SOFTMAX_FAST && algo <= CUDNN_SOFTMAX_LOG &&
	       (mode == CUDNN_SOFTMAX_MODE_INSTANCE || mode == CUDNN_SOFTMAX_MODE_CHANNEL);
}

TFS_DNN_API cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
	cudnnSoftmaxMode_t mode, const void *alpha, const cudnnTensorDescriptor_t xDesc,
	const void *x, const void *beta, const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct args a = {.data = {y, (float *)x}};
	cudnnTensorDescriptor_t desc[2] = {yDesc, xDesc};
	cudnnStatus_t rc = tfs_dnn_check(desc, 2);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !x || !y)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!known(algo, mode))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "algorithm or mode");
	a.algo = (enum tfs_softmax)algo;
	a.per_instance = mode == CUDNN_SOFTMAX_MODE_INSTANCE;
	a.s = tfs_dnn_blend(alpha, beta);
	return submit(handle, "tfsim_softmax_fprop", run_forward, &a, desc, 2);
}

TFS_DNN_API cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
	cudnnSoftmaxMode_t mode, const void *alpha, const cudnnTensorDescriptor_t yDesc,
	const void *y, const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
	const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct args a = {.data = {dx, (float *)y, (float *)dy}};
	cudnnTensorDescriptor_t desc[3] = {dxDesc, yDesc, dyDesc};
	cudnnStatus_t rc = tfs_dnn_check(desc, 3);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !dy || !y || !dx)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!known(algo, mode))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "algorithm or mode");
	a.algo = (enum tfs_softmax)algo;
	a.per_instance = mode == CUDNN_SOFTMAX_MODE_INSTANCE;
	a.s = tfs_dnn_blend(alpha, beta);
	return submit(handle, "tfsim_softmax_bprop", run_backward, &a, desc, 3);
}
