/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

#include <stdatomic.h>
#include <string.h>

#include "tests/sim/cudnn/math/cudnn_math_pool.h"

static void spread(const struct tfs_view *v, ptrdiff_t out[5])
{
	int spatial = v->nd - 2;

	out[0] = v->stride[0];
	out[1] = v->stride[1];
	for (int i = 0; i < 3; i++)
		out[2 + i] = i < 3 - spatial ? 0 : v->stride[2 + i - (3 - spatial)];
}

static cudnnStatus_t fill_pool(struct tfs_pool *p, const struct cudnnPoolingStruct *d,
	const struct tfs_view *x, const struct tfs_view *y)
{
	memset(p, 0, sizeof(*p));
	if (d->nd > 3)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "more than 3 spatial dimensions");
	if (!d->nd || x->nd != d->nd + 2 || y->nd != x->nd || x->dim[0] != y->dim[0] ||
		x->dim[1] != y->dim[1])
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	p->mode = d->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING   ? TFS_POOL_MEAN_PADDED
		  : d->mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ? TFS_POOL_MEAN
									   : TFS_POOL_MAX;
	p->propagate_nan = d->nan == CUDNN_PROPAGATE_NAN;
	p->n = x->dim[0];
	p->c = x->dim[1];
	for (int i = 0; i < 3; i++) {
		int k = i - (3 - d->nd);

		p->in[i] = k < 0 ? 1 : x->dim[2 + k];
		p->out[i] = k < 0 ? 1 : y->dim[2 + k];
		p->win[i] = k < 0 ? 1 : d->win[k];
		p->pad[i] = k < 0 ? 0 : d->pad[k];
		p->stride[i] = k < 0 ? 1 : d->stride[k];
		if (p->out[i] != (p->in[i] + 2 * p->pad[i] - p->win[i]) / p->stride[i] + 1)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "output size");
	}
	spread(x, p->xs);
	spread(y, p->ys);
	return CUDNN_STATUS_SUCCESS;
}

struct args {
	struct tfs_pool pool;
	struct tfs_blend s;
	bool atomics;
	const float *x, *dy;
	float *out;
};

static void run_forward(void *p)
{
	const struct args *a = p;

	tfs_math_pool(&a->pool, a->s, a->x, a->out);
}

static void run_backward(void *p)
{
	static _Atomic uint64_t calls;
	const struct args *a = p;
	uint64_t first = a->atomics ? atomic_fetch_add(&calls, 1) * 7 : 0;

	tfs_math_pool_grad(&a->pool, a->s, first, a->x, a->dy, a->out);
}

TFS_DNN_API cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle,
	const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
	const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct args a = {.x = x, .out = y};
	struct tfs_dnn_work w = {.name = "tfsim_pooling_fprop",
		.run = run_forward,
		.args = &a,
		.args_size = sizeof(a)};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){xDesc, yDesc}, 2);

	if (rc)
		return rc;
	if (!handle || !poolingDesc || !alpha || !beta || !x || !y)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = fill_pool(&a.pool, poolingDesc, &xDesc->v, &yDesc->v);
	if (rc)
		return rc;
	a.s = tfs_dnn_blend(alpha, beta);
	w.bytes = 4 * (tfs_view_count(&xDesc->v) + tfs_view_count(&yDesc->v));
	w.flops = (uint64_t)(a.pool.win[0] * a.pool.win[1] * a.pool.win[2]) *
		  tfs_view_count(&yDesc->v) * 4;
	w.reads[0] = x;
	w.read_bytes[0] = tfs_dnn_bytes(&xDesc->v);
	w.writes[0] = y;
	w.write_bytes[0] = tfs_dnn_bytes(&yDesc->v);
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle,
	const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
	const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct args a = {.x = x, .dy = dy, .out = dx};
	struct tfs_dnn_work w = {.name = "tfsim_pooling_bprop",
		.run = run_backward,
		.args = &a,
		.args_size = sizeof(a)};
	cudnnTensorDescriptor_t all[4] = {yDesc, dyDesc, xDesc, dxDesc};
	const void *in[3] = {y, dy, x};
	cudnnStatus_t rc = tfs_dnn_check(all, 4);

	if (rc)
		return rc;
	if (!handle || !poolingDesc || !alpha || !beta || !x || !y || !dy || !dx)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = fill_pool(&a.pool, poolingDesc, &xDesc->v, &yDesc->v);
	if (rc)
		return rc;
	if (!tfs_view_same_dims(&yDesc->v, &dyDesc->v) ||
		!tfs_view_same_dims(&xDesc->v, &dxDesc->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "gradients");
	spread(&dyDesc->v, a.pool.dys);
	spread(&dxDesc->v, a.pool.dxs);
	a.s = tfs_dnn_blend(alpha, beta);
	a.atomics = poolingDesc->mode == CUDNN_POOLING_MAX;
	for (int i = 0; i < 4; i++)
		w.bytes += 4 * tfs_view_count(&all[i]->v);
	w.flops = (uint64_t)(a.pool.win[0] * a.pool.win[1] * a.pool.win[2]) *
		  tfs_view_count(&yDesc->v) * (a.pool.mode == TFS_POOL_MAX ? 120 : 16);
	for (int i = 0; i < 3; i++) {
		w.reads[i] = in[i];
		w.read_bytes[i] = tfs_dnn_bytes(&all[i]->v);
	}
	w.writes[0] = dx;
	w.write_bytes[0] = tfs_dnn_bytes(&dxDesc->v);
	return tfs_dnn_submit(handle, &w);
}
