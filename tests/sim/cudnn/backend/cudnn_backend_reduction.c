/* SPDX-License-Identifier: MIT */
/* Reductions to dimensions that divide those of x: 1, or so many neighbours to one. */
#include <math.h>
#include <stdlib.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_REDUCTION_##name

static int operator_of(const struct tfs_backend *op)
{
	return (int)tfs_backend_int(
		tfs_backend_child(op, ATTR(DESC)), CUDNN_ATTR_REDUCTION_OPERATOR, 0);
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_reduction);
	struct tfs_view x, y;

	if (rc)
		return rc;
	if (tfs_backend_child(op, ATTR(DESC))->type != CUDNN_BACKEND_REDUCTION_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "reduction");
	x = tfs_op_view(op, ATTR(XDESC));
	y = tfs_op_view(op, ATTR(YDESC));
	if (!tfs_walkable(&x, &y))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "reduction");
	if (operator_of(op) < 0 || operator_of(op) > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "operator");
	return CUDNN_STATUS_SUCCESS;
}

static bool sliceable(const struct tfs_backend *op)
{
	return tfs_op_view(op, ATTR(XDESC)).dim[0] == tfs_op_view(op, ATTR(YDESC)).dim[0];
}

static uint64_t flops(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC));

	return tfs_view_count(&x);
}

struct rows {
	int kind;
	const float *x;
	double *sum; /* one for each element of y, packed */
	float *y;
	double count;
};

static double start(int kind)
{
	switch (kind) {
	case CUDNN_REDUCE_TENSOR_MUL:
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return 1.0;
	case CUDNN_REDUCE_TENSOR_MIN:
		return (double)INFINITY;
	case CUDNN_REDUCE_TENSOR_MAX:
		return -(double)INFINITY;
	default:
		return 0.0;
	}
}

static double join(int kind, double sum, double x)
{
	switch (kind) {
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return x == 0.0 ? sum : sum * x;
	case CUDNN_REDUCE_TENSOR_MUL:
		return sum * x;
	case CUDNN_REDUCE_TENSOR_MIN:
		return x < sum ? x : sum;
	case CUDNN_REDUCE_TENSOR_MAX:
		return x > sum ? x : sum;
	case CUDNN_REDUCE_TENSOR_AMAX:
		return fabs(x) > sum ? fabs(x) : sum;
	case CUDNN_REDUCE_TENSOR_NORM1:
		return sum + fabs(x);
	case CUDNN_REDUCE_TENSOR_NORM2:
		return sum + x * x;
	default: /* ADD, AVG */
		return sum + x;
	}
}

static void join_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct rows *r = arg;
	const float *x = r->x + at[0];
	double *sum = r->sum + at[1];

	for (size_t i = 0; i < count; i++, x += step[0], sum += step[1])
		*sum = join(r->kind, *sum, (double)*x);
}

static void end_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct rows *r = arg;

	for (size_t i = 0; i < count; i++) {
		double v = r->sum[at[1] + (ptrdiff_t)i * step[1]];

		if (r->kind == CUDNN_REDUCE_TENSOR_AVG)
			v /= r->count;
		if (r->kind == CUDNN_REDUCE_TENSOR_NORM2)
			v = sqrt(v);
		r->y[at[0] + (ptrdiff_t)i * step[0]] = (float)v;
	}
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	struct tfs_array x = tfs_exec_array(exec, step, ATTR(XDESC));
	struct tfs_array y = tfs_exec_array(exec, step, ATTR(YDESC));
	struct tfs_view sums = y.view;
	const struct tfs_view *in[2] = {&x.view, &sums}, *out[2] = {&y.view, &sums};
	size_t n = tfs_view_count(&y.view);
	struct rows r = {.kind = operator_of(step->desc),
		.x = x.data,
		.y = y.data,
		.count = (double)(tfs_view_count(&x.view) / n),
		.sum = malloc(n * sizeof(double))};

	if (!r.sum)
		return -1;
	for (size_t i = 0; i < n; i++)
		r.sum[i] = start(r.kind);
	tfs_view_pack(&sums);
	tfs_walk(&x.view, in, 2, join_row, &r);
	tfs_walk(&y.view, out, 2, end_row, &r);
	free(r.sum);
	return 0;
}

const struct tfs_backend_op tfs_op_reduction = {
	.type = CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
	.inputs = {ATTR(XDESC)},
	.outputs = {ATTR(YDESC)},
	.check = check,
	.sliceable = sliceable,
	.flops = flops,
	.run = run,
};
