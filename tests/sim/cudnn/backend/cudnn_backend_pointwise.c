/* SPDX-License-Identifier: MIT */
/* Element by element; operands are repeated along dimensions of 1. */
#include <stdlib.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"
#include "tests/sim/cudnn/backend/cudnn_backend_scalar.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_POINTWISE_##name

static const struct tfs_backend *params_of(const struct tfs_backend *op)
{
	return tfs_backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
}

static int mode_of(const struct tfs_backend *op)
{
	return (int)tfs_backend_int(params_of(op), CUDNN_ATTR_POINTWISE_MODE, 0);
}

/* What an operation of this mode has: operands by attribute, the result last. */
static int operands(int mode, int names[4])
{
	int n = 0;

	names[n++] = ATTR(XDESC);
	if (tfs_scalar_is_gradient(mode))
		names[n++] = ATTR(DYDESC);
	else if (tfs_scalar_operands(mode) > 1)
		names[n++] = ATTR(BDESC);
	if (tfs_scalar_operands(mode) > 2)
		names[n++] = ATTR(TDESC);
	names[n] = tfs_scalar_is_gradient(mode) ? ATTR(DXDESC) : ATTR(YDESC);
	return n;
}

static int rank(const struct tfs_backend *op, const int *names, int n)
{
	int nd = 0;

	for (int i = 0; i <= n; i++) {
		struct tfs_view v = tfs_op_view(op, names[i]);

		nd = v.nd > nd ? v.nd : nd;
	}
	return nd;
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	int names[4], n, nd;
	struct tfs_view out, in;
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_pointwise);

	if (rc)
		return rc;
	if (params_of(op)->type != CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "pointwise");
	if (!tfs_scalar_operands(mode_of(op)))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "mode");
	n = operands(mode_of(op), names);
	for (int i = 0; i <= n; i++)
		if (!tfs_op_view(op, names[i]).nd)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "an operand is not set");
	nd = rank(op, names, n);
	out = tfs_op_view(op, names[n]);
	out = tfs_view_widen(&out, nd);
	for (int i = 0; i < n; i++) {
		in = tfs_op_view(op, names[i]);
		in = tfs_view_widen(&in, nd);
		if (!tfs_view_broadcasts(&in, &out))
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "pointwise");
	}
	return CUDNN_STATUS_SUCCESS;
}

static const char *unsupported(const struct tfs_backend *op)
{
	int64_t axis = tfs_backend_int(params_of(op), CUDNN_ATTR_POINTWISE_AXIS, 0);

	if (tfs_scalar_is_gradient(mode_of(op)) &&
		(tfs_backend_real(op, ATTR(ALPHA1), 1.0) != 1.0 ||
			tfs_backend_real(op, ATTR(ALPHA2), 1.0) != 1.0))
		return "factors of a gradient";
	if (mode_of(op) == CUDNN_POINTWISE_GEN_INDEX &&
		(axis < 0 || axis >= tfs_op_view(op, ATTR(YDESC)).nd))
		return "axis";
	return NULL;
}

static bool sliceable(const struct tfs_backend *op)
{
	return mode_of(op) != CUDNN_POINTWISE_GEN_INDEX ||
	       tfs_backend_int(params_of(op), CUDNN_ATTR_POINTWISE_AXIS, 0) != 0;
}

static uint64_t flops(const struct tfs_backend *op)
{
	int names[4], n = operands(mode_of(op), names);
	struct tfs_view out = tfs_op_view(op, names[n]);

	return tfs_view_count(&out);
}

struct rows {
	struct tfs_scalar scalar;
	const float *in[3];
	float *out;
	int n;
};

static void row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct rows *r = arg;
	const float *in[3] = {r->in[0] + at[1], r->in[1] + at[2], r->in[2] + at[3]};

	tfs_scalar_row(&r->scalar, count, r->out + at[0], in, step);
}

/* The index along an axis is an array with that one dimension, repeated along the others. */
static int run_index(const struct tfs_array *out, int axis)
{
	int count = out->view.dim[axis];
	float *index = malloc((size_t)count * sizeof(*index));
	struct tfs_view view = {.nd = out->view.nd};
	const struct tfs_view *views[4] = {&out->view, &view, &view, &view};
	struct rows r = {.scalar = {.mode = CUDNN_POINTWISE_IDENTITY, .alpha1 = 1, .alpha2 = 1},
		.out = out->data};

	if (!index)
		return -1;
	for (int i = 0; i < view.nd; i++)
		view.dim[i] = view.stride[i] = 1;
	view.dim[axis] = count;
	for (int i = 0; i < count; i++)
		index[i] = (float)i;
	r.in[0] = r.in[1] = r.in[2] = index;
	tfs_walk(&out->view, views, 4, row, &r);
	free(index);
	return 0;
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	const struct tfs_backend *op = step->desc;
	int names[4], n = operands(mode_of(op), names), nd = rank(op, names, n);
	struct rows r = {.scalar = tfs_scalar_init(params_of(op))};
	struct tfs_array out = tfs_exec_array(exec, step, names[n]);
	struct tfs_view views[4];
	const struct tfs_view *list[4] = {&views[0], &views[1], &views[2], &views[3]};

	if (mode_of(op) == CUDNN_POINTWISE_GEN_INDEX)
		return run_index(
			&out, (int)tfs_backend_int(params_of(op), CUDNN_ATTR_POINTWISE_AXIS, 0));
	r.scalar.alpha1 = (float)tfs_backend_real(op, ATTR(ALPHA1), 1.0);
	r.scalar.alpha2 = (float)tfs_backend_real(op, ATTR(ALPHA2), 1.0);
	r.out = out.data;
	views[0] = tfs_view_widen(&out.view, nd);
	for (int i = 0; i < 3; i++) {
		/* An operand that the mode does not have is any that can be read. */
		struct tfs_array in = tfs_exec_array(exec, step, names[i < n ? i : 0]);

		r.in[i] = in.data;
		views[1 + i] = tfs_view_widen(&in.view, nd);
	}
	tfs_walk(&views[0], list, 4, row, &r);
	return 0;
}

const struct tfs_backend_op tfs_op_pointwise = {
	.type = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
	.inputs = {ATTR(XDESC), ATTR(BDESC), ATTR(TDESC), ATTR(DYDESC)},
	.outputs = {ATTR(YDESC), ATTR(DXDESC)},
	.check = check,
	.unsupported = unsupported,
	.sliceable = sliceable,
	.flops = flops,
	.run = run,
};
