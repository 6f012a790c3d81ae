/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_conv.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* NCHW order in memory terms: spatial dimensions are right-aligned to depth, height, width. */
static void spread(const struct tfs_view *v, ptrdiff_t out[5])
{
	int spatial = v->nd - 2;

	out[0] = v->stride[0];
	out[1] = v->stride[1];
	for (int i = 0; i < 3; i++)
		out[2 + i] = i < 3 - spatial ? 0 : v->stride[2 + i - (3 - spatial)];
}

static void fill_conv(struct tfs_conv *c, const struct cudnnConvolutionStruct *d,
	const struct tfs_view *x, const struct tfs_view *w, const struct tfs_view *y)
{
	memset(c, 0, sizeof(*c));
	c->n = x->dim[0];
	c->c = x->dim[1];
	c->k = w->dim[0];
	c->groups = d->groups;
	c->flip = d->mode == CUDNN_CONVOLUTION;
	c->tf32 = d->math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
	for (int i = 0; i < 3; i++) {
		int s = i - (3 - d->nd);

		c->in[i] = s < 0 ? 1 : x->dim[2 + s];
		c->flt[i] = s < 0 ? 1 : w->dim[2 + s];
		c->out[i] = s < 0 ? 1 : y->dim[2 + s];
		c->pad[i] = s < 0 ? 0 : d->pad[s];
		c->stride[i] = s < 0 ? 1 : d->stride[s];
		c->dil[i] = s < 0 ? 1 : d->dil[s];
	}
	spread(x, c->xs);
	spread(w, c->ws);
	spread(y, c->ys);
}

cudnnStatus_t tfs_dnn_problem_init(struct tfs_dnn_problem *p, enum tfs_dnn_family family,
	cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
	cudnnTensorDescriptor_t y)
{
	struct tfs_view want = {0};
	cudnnStatus_t rc;

	if (!x || !w || !conv || !y || !w->v.nd || !conv->nd)
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor missing or unset");
	rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){x, y}, 2);
	if (rc)
		return rc;
	if (w->type != CUDNN_DATA_FLOAT || conv->compute != CUDNN_DATA_FLOAT)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
			"the simulated device computes with float only");
	if (conv->nd > 3)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "more than 3 spatial dimensions");
	rc = tfs_dnn_conv_dims(conv, &x->v, &w->v, &want);
	if (rc)
		return rc;
	if (!tfs_view_same_dims(&want, &y->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "output dimensions");
	p->family = family;
	p->math = conv->math;
	p->x = x->v;
	p->w = w->v;
	p->y = y->v;
	fill_conv(&p->conv, conv, &x->v, &w->v, &y->v);
	return CUDNN_STATUS_SUCCESS;
}

struct run {
	enum tfs_dnn_family family;
	struct tfs_conv conv;
	struct tfs_sum_order order;
	bool atomics;
	bool wrong, wild;
	struct tfs_blend s;
	const float *a; /* x, w, x */
	const float *b; /* w, dy, dy */
	float *out;
	void *workspace;
	size_t workspace_bytes, lent_bytes;
	bool prologue, fused;
	struct tfs_conv_fuse fuse;
	struct tfs_act act;
};

/* Atomic additions land in another order each time; a counter stands in for the weather. */
static uint64_t next_order(void)
{
	static _Atomic uint64_t count;
	uint64_t x = (atomic_fetch_add(&count, 1) + 1) * 0x9e3779b97f4a7c15u;

	return (x ^ x >> 31) | 1;
}

/* Whatever was lent may be written to, needed or not. */
static void enter(const struct run *r)
{
	if (r->workspace)
		tfsim_workspace_enter(r->workspace, r->lent_bytes);
}

static void run_prologue(void *args)
{
	const struct run *r = args;
	const bool forward = r->family == TFS_DNN_FWD, data = r->family == TFS_DNN_DATA;

	enter(r);
	tfs_conv_prepare(&r->conv, forward && r->order.reversed, forward ? r->a : NULL,
		forward ? r->b
		: data  ? r->a
			: NULL,
		forward ? NULL : r->b);
}

static void compute(struct run *r, struct tfs_sum_order o)
{
	int err;

	if (r->family == TFS_DNN_FWD) {
		r->fuse.act = &r->act;
		err = tfs_conv_forward(
			&r->conv, o, r->s, r->a, r->b, r->out, r->fused ? &r->fuse : NULL);
	} else if (r->family == TFS_DNN_DATA) {
		err = tfs_conv_grad_data(&r->conv, o, r->s, r->a, r->b, r->out);
	} else {
		err = tfs_conv_grad_filter(&r->conv, o, r->s, r->a, r->b, r->out);
	}
	if (err == TFS_CONV_WILD)
		tfsim_fault(cudaErrorIllegalAddress);
}

static void run_conv(void *args)
{
	struct run *r = args;
	struct tfs_sum_order o = r->order;

	if (!r->prologue)
		enter(r);
	if (r->atomics)
		o.shuffle = next_order();
	compute(r, o);
	tfsim_workspace_leave(r->workspace, r->workspace_bytes);
	if (r->wrong)
		r->out[1] *= 3;
	if (r->wild)
		((char *)r->workspace)[r->workspace_bytes] ^= 1;
}

/* For tests of those who check: this algorithm does not do what it should. */
static bool is_named(const char *variable, int algo)
{
	const char *text = getenv(variable);

	return text && atoi(text) == algo;
}

/* Checks the workspace and says what lies where in it. */
static cudnnStatus_t lend(const struct tfs_dnn_problem *p, const struct tfs_dnn_algo *a,
	struct run *r, void *workspace, size_t size)
{
	r->workspace = workspace;
	r->workspace_bytes = a->workspace(p);
	r->lent_bytes = size;
	r->prologue = a->prologue;
	if (r->workspace_bytes && (!workspace || size < r->workspace_bytes))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "workspace");
	if (r->workspace_bytes && tfsim_workspace_used())
		a->layout(p, workspace, r->workspace_bytes, &r->conv.space);
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit(
	cudnnHandle_t handle, const struct tfs_dnn_problem *p, int algo, const struct run *r)
{
	const struct tfs_view *views[3] = {&p->x, &p->w, &p->y};
	static const int roles[TFS_DNN_FAMILIES][3] = {{0, 1, 2}, {1, 2, 0}, {0, 2, 1}};
	const int *role = roles[p->family];
	struct tfs_dnn_work w = tfs_dnn_algo_work(p, algo), first;
	cudnnStatus_t rc;

	w.args = r;
	w.args_size = sizeof(*r);
	w.reads[0] = r->a;
	w.read_bytes[0] = tfs_dnn_bytes(views[role[0]]);
	w.reads[1] = r->b;
	w.read_bytes[1] = tfs_dnn_bytes(views[role[1]]);
	w.writes[0] = r->workspace;
	w.write_bytes[0] = r->workspace_bytes;
	first = w;
	first.run = run_prologue;
	rc = tfs_dnn_algo_prologue(handle, p, algo, &first);
	if (rc)
		return rc;
	w.run = run_conv;
	w.writes[1] = r->out;
	w.write_bytes[1] = tfs_dnn_bytes(views[role[2]]);
	if (r->fused) {
		w.reads[2] = r->fuse.bias;
		w.read_bytes[2] = (size_t)p->conv.k * sizeof(float);
	}
	return tfs_dnn_submit(handle, &w);
}

static cudnnStatus_t execute(cudnnHandle_t handle, const struct tfs_dnn_problem *p, int algo,
	struct run *r, void *workspace, size_t size)
{
	const struct tfs_dnn_algo *a = tfs_dnn_algo_find(p, algo);
	cudnnStatus_t rc;

	if (!a)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "algorithm for this problem");
	r->family = p->family;
	r->conv = p->conv;
	r->order = a->order;
	r->atomics = !a->deterministic;
	rc = lend(p, a, r, workspace, size);
	if (rc)
		return rc;
	r->wrong = is_named("TFSIM_WRONG", algo);
	r->wild = r->workspace_bytes && is_named("TFSIM_WILD", algo);
	return submit(handle, p, algo, r);
}

static bool missing(cudnnHandle_t h, const void *alpha, const void *beta, const void *a,
	const void *b, const void *out)
{
	return !h || !alpha || !beta || !a || !b || !out;
}

TFS_DNN_API cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnFilterDescriptor_t wDesc,
	const void *w, const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo,
	void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
	const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct tfs_dnn_problem p;
	struct run r = {.a = x, .b = w, .out = y};
	cudnnStatus_t rc;

	if (missing(handle, alpha, beta, x, w, y))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = tfs_dnn_problem_init(&p, TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc);
	if (rc)
		return rc;
	r.s = tfs_dnn_blend(alpha, beta);
	return execute(handle, &p, (int)algo, &r, workSpace, workSpaceSizeInBytes);
}

TFS_DNN_API cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
	const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnConvolutionDescriptor_t convDesc,
	cudnnConvolutionBwdDataAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
	const void *beta, const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct tfs_dnn_problem p;
	struct run r = {.a = w, .b = dy, .out = dx};
	cudnnStatus_t rc;

	if (missing(handle, alpha, beta, w, dy, dx))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = tfs_dnn_problem_init(&p, TFS_DNN_DATA, dxDesc, wDesc, convDesc, dyDesc);
	if (rc)
		return rc;
	r.s = tfs_dnn_blend(alpha, beta);
	return execute(handle, &p, (int)algo, &r, workSpace, workSpaceSizeInBytes);
}

TFS_DNN_API cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
	const void *dy, const cudnnConvolutionDescriptor_t convDesc,
	cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
	const void *beta, const cudnnFilterDescriptor_t dwDesc, void *dw)
{
	struct tfs_dnn_problem p;
	struct run r = {.a = x, .b = dy, .out = dw};
	cudnnStatus_t rc;

	if (missing(handle, alpha, beta, x, dy, dw))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = tfs_dnn_problem_init(&p, TFS_DNN_FILTER, xDesc, dwDesc, convDesc, dyDesc);
	if (rc)
		return rc;
	r.s = tfs_dnn_blend(alpha, beta);
	return execute(handle, &p, (int)algo, &r, workSpace, workSpaceSizeInBytes);
}

static cudnnStatus_t check_fused(const struct tfs_dnn_problem *p, int algo,
	cudnnTensorDescriptor_t zDesc, cudnnTensorDescriptor_t biasDesc,
	cudnnActivationDescriptor_t act)
{
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){zDesc, biasDesc}, 2);

	if (rc)
		return rc;
	if (!act)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "activation descriptor");
	if (!tfs_view_same_dims(&zDesc->v, &p->y) || biasDesc->v.dim[1] != p->conv.k ||
		tfs_view_count(&biasDesc->v) != (size_t)p->conv.k)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "z or bias");
	if (act->mode == CUDNN_ACTIVATION_IDENTITY &&
		algo != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "identity needs algorithm 1");
	if (act->mode != CUDNN_ACTIVATION_IDENTITY && act->mode != CUDNN_ACTIVATION_RELU)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "activation mode");
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnConvolutionBiasActivationForward(cudnnHandle_t handle,
	const void *alpha1, const cudnnTensorDescriptor_t xDesc, const void *x,
	const cudnnFilterDescriptor_t wDesc, const void *w,
	const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo,
	void *workSpace, size_t workSpaceSizeInBytes, const void *alpha2,
	const cudnnTensorDescriptor_t zDesc, const void *z, const cudnnTensorDescriptor_t biasDesc,
	const void *bias, const cudnnActivationDescriptor_t activationDesc,
	const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct tfs_dnn_problem p, zp;
	struct run r = {.a = x, .b = w, .out = y, .fused = true};
	cudnnStatus_t rc;

	if (missing(handle, alpha1, alpha2, x, w, y) || !z || !bias)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	rc = tfs_dnn_problem_init(&p, TFS_DNN_FWD, xDesc, wDesc, convDesc, yDesc);
	if (rc)
		return rc;
	rc = check_fused(&p, (int)algo, zDesc, biasDesc, activationDesc);
	if (rc)
		return rc;
	fill_conv(&zp.conv, convDesc, &xDesc->v, &wDesc->v, &zDesc->v);
	memcpy(r.fuse.zs, zp.conv.ys, sizeof(r.fuse.zs));
	r.fuse.z = z;
	r.fuse.bias = bias;
	r.fuse.bias_step = biasDesc->v.stride[1];
	r.fuse.alpha2 = *(const float *)alpha2;
	r.act = tfs_dnn_act(activationDesc);
	r.s = tfs_dnn_blend(alpha1, NULL);
	return execute(handle, &p, (int)algo, &r, workSpace, workSpaceSizeInBytes);
}

struct bias {
	struct tfs_blend s;
	struct tfs_view dyv;
	const float *dy;
	ptrdiff_t step;
	float *db;
};

static void run_bias(void *args)
{
	const struct bias *b = args;

	tfs_conv_grad_bias(b->s, &b->dyv, b->dy, b->step, b->db);
}

TFS_DNN_API cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
	const cudnnTensorDescriptor_t dbDesc, void *db)
{
	struct bias b = {.dy = dy, .db = db};
	struct tfs_dnn_work w = {
		.name = "tfsim_conv_bgrad", .run = run_bias, .args = &b, .args_size = sizeof(b)};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){dyDesc, dbDesc}, 2);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !dy || !db)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (dbDesc->v.dim[1] != dyDesc->v.dim[1] ||
		tfs_view_count(&dbDesc->v) != (size_t)dbDesc->v.dim[1])
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "bias dimensions");
	b.s = tfs_dnn_blend(alpha, beta);
	b.dyv = dyDesc->v;
	b.step = dbDesc->v.stride[1];
	w.bytes = 4 * tfs_view_count(&dyDesc->v);
	w.flops = tfs_view_count(&dyDesc->v);
	w.reads[0] = dy;
	w.read_bytes[0] = tfs_dnn_bytes(&dyDesc->v);
	w.writes[0] = db;
	w.write_bytes[0] = tfs_dnn_bytes(&dbDesc->v);
	return tfs_dnn_submit(handle, &w);
}
