/* SPDX-License-Identifier: MIT */
/* The three convolutions as operations of a graph. */
#include <stdatomic.h>
#include <string.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

/* Attributes of one direction: x, w and y stand for dx, dw and dy as well. */
struct names {
	int desc, alpha, beta, x, w, y;
};

static const struct names *names_of(const struct tfs_backend *op)
{
	static const struct names forward = {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
	static const struct names data = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
	static const struct names filter = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};

	if (op->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
		return &forward;
	return op->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? &data
											: &filter;
}

struct shape {
	const struct names *names;
	struct tfs_view x, w, y;
	const int64_t *pre, *post, *stride, *dilation;
	int spatial;
	bool flip;
};

static const int64_t *list(const struct tfs_backend *desc, cudnnBackendAttributeName_t name)
{
	return tfs_backend_value(desc, name)->data;
}

static struct shape shape_of(const struct tfs_backend *op)
{
	const struct names *n = names_of(op);
	const struct tfs_backend *conv =
		tfs_backend_child(op, (cudnnBackendAttributeName_t)n->desc);
	struct shape s = {.names = n,
		.x = tfs_op_view(op, n->x),
		.w = tfs_op_view(op, n->w),
		.y = tfs_op_view(op, n->y)};

	s.spatial = (int)tfs_backend_int(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
	s.pre = list(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
	s.post = list(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
	s.stride = list(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
	s.dilation = list(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS);
	s.flip = tfs_backend_int(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, 0) == CUDNN_CONVOLUTION;
	return s;
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	const struct names *n = names_of(op);
	const struct tfs_backend *conv =
		tfs_backend_child(op, (cudnnBackendAttributeName_t)n->desc);
	cudnnStatus_t rc = tfs_op_check_tensors(op, tfs_backend_op_find(op->type));
	struct shape s;

	if (rc)
		return rc;
	if (conv->type != CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "convolution");
	s = shape_of(op);
	if (s.x.nd != s.spatial + 2 || s.w.nd != s.x.nd || s.y.nd != s.x.nd)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "ranks and spatial dimensions");
	if (s.x.dim[0] != s.y.dim[0] || s.w.dim[0] != s.y.dim[1] || s.x.dim[1] % s.w.dim[1] ||
		s.w.dim[0] % (s.x.dim[1] / s.w.dim[1]))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "batch or channels");
	for (int i = 0; i < s.spatial; i++) {
		int64_t room = s.x.dim[2 + i] + s.pre[i] + s.post[i] -
			       (s.dilation[i] * (s.w.dim[2 + i] - 1) + 1);

		if (room < 0 || room / s.stride[i] + 1 != s.y.dim[2 + i])
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "spatial dimensions");
	}
	return CUDNN_STATUS_SUCCESS;
}

static const char *unsupported(const struct tfs_backend *op)
{
	struct shape s = shape_of(op);
	const struct tfs_backend *conv =
		tfs_backend_child(op, (cudnnBackendAttributeName_t)s.names->desc);
	int64_t type = tfs_backend_int(conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, 0);

	if (s.spatial < 1 || s.spatial > 3)
		return "number of spatial dimensions";
	/* Sums of halves are taken in float here, which is no worse. */
	return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF ? NULL : "compute type";
}

static void strides(const struct tfs_view *v, ptrdiff_t out[5])
{
	int spatial = v->nd - 2;

	memset(out, 0, 5 * sizeof(*out));
	out[0] = v->stride[0];
	out[1] = v->stride[1];
	for (int i = 0; i < spatial; i++)
		out[5 - spatial + i] = v->stride[2 + i];
}

static struct tfs_conv conv_of(const struct shape *s)
{
	struct tfs_conv c = {.n = s->x.dim[0],
		.c = s->x.dim[1],
		.k = s->w.dim[0],
		.groups = s->x.dim[1] / s->w.dim[1],
		.flip = s->flip};

	for (int i = 0; i < 3; i++) {
		int k = i - (3 - s->spatial);

		c.in[i] = k < 0 ? 1 : s->x.dim[2 + k];
		c.flt[i] = k < 0 ? 1 : s->w.dim[2 + k];
		c.out[i] = k < 0 ? 1 : s->y.dim[2 + k];
		c.pad[i] = k < 0 ? 0 : (int)s->pre[k];
		c.stride[i] = k < 0 ? 1 : (int)s->stride[k];
		c.dil[i] = k < 0 ? 1 : (int)s->dilation[k];
	}
	strides(&s->x, c.xs);
	strides(&s->w, c.ws);
	strides(&s->y, c.ys);
	return c;
}

static uint64_t flops(const struct tfs_backend *op)
{
	struct shape s = shape_of(op);

	return 2 * tfs_view_count(&s.y) * tfs_view_count(&s.w) / (size_t)s.w.dim[0];
}

static bool blends(const struct tfs_backend *op)
{
	return tfs_backend_real(op, (cudnnBackendAttributeName_t)names_of(op)->beta, 0.0) != 0.0;
}

static size_t workspace(const struct tfs_backend *op, const struct tfs_engine *engine)
{
	struct tfs_view w = tfs_op_view(op, names_of(op)->w);

	return engine->copies ? tfs_dnn_bytes(&w) : 0;
}

/* Atomic additions land in another order each time; a counter stands in for that. */
static uint64_t next_order(void)
{
	static _Atomic uint64_t count;
	uint64_t x = (atomic_fetch_add(&count, 1) + 1) * 0x9e3779b97f4a7c15u;

	return (x ^ x >> 31) | 1;
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	struct shape s = shape_of(step->desc);
	const struct names *n = s.names;
	struct tfs_conv c = conv_of(&s);
	struct tfs_sum_order order = exec->engine->order;

	c.tf32 = exec->engine->tf32;
	struct tfs_blend blend = {
		(float)tfs_backend_real(step->desc, (cudnnBackendAttributeName_t)n->alpha, 1.0),
		(float)tfs_backend_real(step->desc, (cudnnBackendAttributeName_t)n->beta, 0.0)};
	float *x = tfs_exec_array(exec, step, n->x).data;
	float *w = tfs_exec_array(exec, step, n->w).data, *filter = w;
	float *y = tfs_exec_array(exec, step, n->y).data;
	bool gradient = n->w == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW;
	int err;

	if (exec->engine->atomics)
		order.shuffle = next_order();
	if (exec->engine->copies) {
		filter = (float *)exec->workspace;
		if (!gradient || blend.beta != 0.0f)
			tfs_type_load(CUDNN_DATA_FLOAT, &s.w, w, filter);
	}
	if (gradient) {
		err = tfs_conv_grad_filter(&c, order, blend, x, y, filter);
		if (filter != w)
			tfs_type_store(CUDNN_DATA_FLOAT, &s.w, filter, w);
		return err;
	}
	if (n->y == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y)
		return tfs_conv_forward(&c, order, blend, x, filter, y, NULL);
	return tfs_conv_grad_data(&c, order, blend, filter, y, x);
}

const struct tfs_backend_op tfs_op_conv_forward = {
	.type = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
	.inputs = {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
	.outputs = {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
	.check = check,
	.unsupported = unsupported,
	.blends = blends,
	.flops = flops,
	.workspace = workspace,
	.run = run,
};

const struct tfs_backend_op tfs_op_conv_data = {
	.type = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
	.inputs = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
	.outputs = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
	.check = check,
	.unsupported = unsupported,
	.blends = blends,
	.flops = flops,
	.workspace = workspace,
	.run = run,
};

const struct tfs_backend_op tfs_op_conv_filter = {
	.type = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
	.inputs = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
		CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
	.outputs = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
	.check = check,
	.unsupported = unsupported,
	.blends = blends,
	.flops = flops,
	.workspace = workspace,
	.run = run,
};
