/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "tests/sim/cudnn/cudnn_desc.h"

TFS_DNN_API cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *normDesc)
{
	struct cudnnLRNStruct defaults = {5, 1e-4, 0.75, 2.0};

	if (!normDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*normDesc = malloc(sizeof(**normDesc));
	if (!*normDesc)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	**normDesc = defaults;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t lrnDesc)
{
	free(lrnDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetLRNDescriptor(
	cudnnLRNDescriptor_t normDesc, unsigned lrnN, double lrnAlpha, double lrnBeta, double lrnK)
{
	if (!normDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if (lrnN < CUDNN_LRN_MIN_N || lrnN > CUDNN_LRN_MAX_N || lrnK < CUDNN_LRN_MIN_K ||
		lrnBeta < CUDNN_LRN_MIN_BETA)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "out of the documented range");
	normDesc->n = lrnN;
	normDesc->alpha = lrnAlpha;
	normDesc->beta = lrnBeta;
	normDesc->k = lrnK;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned *lrnN,
	double *lrnAlpha, double *lrnBeta, double *lrnK)
{
	if (!normDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if (lrnN)
		*lrnN = normDesc->n;
	if (lrnAlpha)
		*lrnAlpha = normDesc->alpha;
	if (lrnBeta)
		*lrnBeta = normDesc->beta;
	if (lrnK)
		*lrnK = normDesc->k;
	return CUDNN_STATUS_SUCCESS;
}

/* Operand 0 is the output. */
struct args {
	struct cudnnLRNStruct d;
	struct tfs_blend s;
	struct tfs_view view[4];
	float *data[4];
};

/* One line through the channels: position i of operand k is at[k] + i * step[k]. */
struct line {
	int channels;
	float *at[4];
	ptrdiff_t step[4];
};

static double scale_at(const struct args *a, const struct line *l, int x, int c)
{
	int behind = (int)(a->d.n - 1) / 2;
	int ahead = (int)a->d.n - behind - 1;
	double sum = 0.0;

	for (int i = c - behind; i <= c + ahead; i++) {
		double v;

		if (i < 0 || i >= l->channels)
			continue;
		v = (double)l->at[x][i * l->step[x]];
		sum += v * v;
	}
	return a->d.k + a->d.alpha / a->d.n * sum;
}

static void store(const struct args *a, const struct line *l, int c, double v)
{
	float *to = l->at[0] + c * l->step[0];
	float old = a->s.beta != 0.0f ? a->s.beta * *to : 0.0f;

	*to = a->s.alpha * (float)v + old;
}

static void forward_line(const struct args *a, const struct line *l)
{
	for (int c = 0; c < l->channels; c++)
		store(a, l, c,
			(double)l->at[1][c * l->step[1]] / pow(scale_at(a, l, 1, c), a->d.beta));
}

/* Operands: dx, y, dy, x. The sum runs over the outputs whose window holds this input. */
static void backward_line(const struct args *a, const struct line *l)
{
	int behind = (int)(a->d.n - 1) / 2;
	int ahead = (int)a->d.n - behind - 1;
	double factor = 2.0 * a->d.alpha * a->d.beta / a->d.n;

	for (int c = 0; c < l->channels; c++) {
		double sum = 0.0;

		for (int i = c - ahead; i <= c + behind; i++)
			if (i >= 0 && i < l->channels)
				sum += (double)l->at[2][i * l->step[2]] *
				       (double)l->at[1][i * l->step[1]] / scale_at(a, l, 3, i);
		store(a, l, c,
			(double)l->at[2][c * l->step[2]] / pow(scale_at(a, l, 3, c), a->d.beta) -
				factor * (double)l->at[3][c * l->step[3]] * sum);
	}
}

static void each_line(
	const struct args *a, int operands, void (*fn)(const struct args *a, const struct line *l))
{
	struct tfs_view all = a->view[0];
	size_t lines;

	all.dim[1] = 1;
	lines = tfs_view_count(&all);
	for (size_t i = 0; i < lines; i++) {
		struct line l = {.channels = a->view[0].dim[1]};

		for (int k = 0; k < operands; k++) {
			size_t rest = i;

			l.at[k] = a->data[k];
			l.step[k] = a->view[k].stride[1];
			for (int d = all.nd - 1; d >= 0; d--) {
				l.at[k] += (ptrdiff_t)(rest % (size_t)all.dim[d]) *
					   a->view[k].stride[d];
				rest /= (size_t)all.dim[d];
			}
		}
		fn(a, &l);
	}
}

static void run_forward(void *p)
{
	each_line(p, 2, forward_line);
}

static void run_backward(void *p)
{
	each_line(p, 4, backward_line);
}

static cudnnStatus_t submit(cudnnHandle_t handle, const char *name, void (*run)(void *),
	struct args *a, const cudnnTensorDescriptor_t *desc, int n)
{
	struct tfs_dnn_work w = {.name = name, .run = run, .args = a, .args_size = sizeof(*a)};

	for (int i = 0; i < n; i++) {
		if (!a->data[i])
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL data");
		if (!tfs_view_same_dims(&desc[i]->v, &desc[0]->v))
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
		a->view[i] = desc[i]->v;
		w.bytes += 4 * tfs_view_count(&desc[i]->v);
		if (i == 0)
			continue;
		w.reads[i - 1] = a->data[i];
		w.read_bytes[i - 1] = tfs_dnn_bytes(&a->view[i]);
	}
	w.flops = (1000 + 100 * (uint64_t)a->d.n) * tfs_view_count(&a->view[0]);
	w.writes[0] = a->data[0];
	w.write_bytes[0] = tfs_dnn_bytes(&a->view[0]);
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle,
	cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
	const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct args a = {.data = {y, (float *)x}};
	cudnnTensorDescriptor_t desc[2] = {yDesc, xDesc};
	cudnnStatus_t rc = tfs_dnn_check(desc, 2);

	(void)lrnMode;
	if (rc)
		return rc;
	if (!handle || !normDesc || !alpha || !beta)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	a.d = *normDesc;
	a.s = tfs_dnn_blend(alpha, beta);
	return submit(handle, "tfsim_lrn_fprop", run_forward, &a, desc, 2);
}

TFS_DNN_API cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle,
	cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
	const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct args a = {.data = {dx, (float *)y, (float *)dy, (float *)x}};
	cudnnTensorDescriptor_t desc[4] = {dxDesc, yDesc, dyDesc, xDesc};
	cudnnStatus_t rc = tfs_dnn_check(desc, 4);

	(void)lrnMode;
	if (rc)
		return rc;
	if (!handle || !normDesc || !alpha || !beta)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	a.d = *normDesc;
	a.s = tfs_dnn_blend(alpha, beta);
	return submit(handle, "tfsim_lrn_bprop", run_backward, &a, desc, 4);
}
