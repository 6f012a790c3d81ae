/* SPDX-License-Identifier: MIT */
/* Normalisation backward. All sums are taken in the plan's workspace. */
#include "tests/sim/cudnn/backend/cudnn_backend_norm.h"
#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_NORM_BWD_##name

static struct tfs_norm_shape shape_of(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC));
	struct tfs_view scale = tfs_op_view(op, ATTR(SCALE_DESC));
	struct tfs_view stat = tfs_op_view(op, ATTR(INV_VARIANCE_DESC));

	return tfs_norm_shape_of((int)tfs_backend_int(op, ATTR(MODE), 0), &x, &scale, &stat);
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_norm_backward);
	struct tfs_view x, dy, dx;
	struct tfs_norm_shape s;

	if (rc)
		return rc;
	x = tfs_op_view(op, ATTR(XDESC));
	dy = tfs_op_view(op, ATTR(DYDESC));
	dx = tfs_op_view(op, ATTR(DXDESC));
	if (!tfs_view_same_dims(&x, &dy) || !tfs_view_same_dims(&x, &dx))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "x, dy and dx");
	s = shape_of(op);
	if (tfs_op_given(op, ATTR(SCALE_DESC)) && tfs_norm_shape_wrong(&s))
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, tfs_norm_shape_wrong(&s));
	return CUDNN_STATUS_SUCCESS;
}

static const char *unsupported(const struct tfs_backend *op)
{
	int mode = (int)tfs_backend_int(op, ATTR(MODE), 0);

	if (mode == CUDNN_GROUP_NORM || mode == CUDNN_ADA_LAYER_NORM)
		return "mode of normalisation";
	if (tfs_backend_value(op, ATTR(PEER_STAT_DESCS)))
		return "statistics over several devices";
	if (!tfs_op_given(op, ATTR(SCALE_DESC)))
		return "normalisation without a scale";
	if (tfs_op_given(op, ATTR(INV_VARIANCE_DESC)))
		return tfs_norm_has_mean(mode) && !tfs_op_given(op, ATTR(MEAN_DESC)) ? "no mean"
										     : NULL;
	return tfs_op_given(op, ATTR(EPSILON_DESC)) ? NULL : "normalisation without an epsilon";
}

static uint64_t flops(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC));

	return 16 * tfs_view_count(&x);
}

/* Mean, inverse deviation and two sums per statistic, two sums per scale. */
static size_t workspace(const struct tfs_backend *op, const struct tfs_engine *engine)
{
	struct tfs_norm_shape s = shape_of(op);

	(void)engine;
	return (4 * s.stats + 2 * s.params) * sizeof(double);
}

struct rows {
	const float *x, *dy, *scale;
	double *mean, *inverse;
	double *dy_sum, *dyx_sum; /* of dy * scale, and of that with normalised x */
	double *dscale, *dbias;
	bool has_mean;
	double count;
	float *dx;
};

/* The views of the walks: x, dy, scale, statistic, sum per scale, dx. */
static void sum_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct rows *r = arg;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t t = (ptrdiff_t)i, stat = at[3] + t * step[3], p = at[4] + t * step[4];
		double dy = (double)r->dy[at[1] + t * step[1]];
		double g = dy * (double)r->scale[at[2] + t * step[2]];
		double hat = ((double)r->x[at[0] + t * step[0]] - r->mean[stat]) * r->inverse[stat];

		r->dy_sum[stat] += g;
		r->dyx_sum[stat] += g * hat;
		r->dscale[p] += dy * hat;
		r->dbias[p] += dy;
	}
}

static void dx_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct rows *r = arg;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t t = (ptrdiff_t)i, stat = at[3] + t * step[3];
		double g =
			(double)r->dy[at[1] + t * step[1]] * (double)r->scale[at[2] + t * step[2]];
		double hat = ((double)r->x[at[0] + t * step[0]] - r->mean[stat]) * r->inverse[stat];

		g -= hat * r->dyx_sum[stat] / r->count;
		if (r->has_mean)
			g -= r->dy_sum[stat] / r->count;
		r->dx[at[5] + t * step[5]] = (float)(g * r->inverse[stat]);
	}
}

struct copy {
	const float *from;
	float *to;
	double *sum;
};

static void read_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct copy *c = arg;

	for (size_t i = 0; i < count; i++)
		c->sum[at[1] + (ptrdiff_t)i * step[1]] =
			(double)c->from[at[0] + (ptrdiff_t)i * step[0]];
}

static void write_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct copy *c = arg;

	for (size_t i = 0; i < count; i++)
		c->to[at[0] + (ptrdiff_t)i * step[0]] =
			(float)c->sum[at[1] + (ptrdiff_t)i * step[1]];
}

/* Between a tensor of the operation and packed sums; nothing when it has none. */
static void move(
	const struct tfs_array *tensor, const struct tfs_view *packed, double *sum, tfs_walk_fn fn)
{
	struct tfs_view view = tfs_view_widen(&tensor->view, packed->nd);
	const struct tfs_view *views[2] = {&view, packed};
	struct copy c = {tensor->data, tensor->data, sum};

	if (tensor->data)
		tfs_walk(packed, views, 2, fn, &c);
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	static const int names[9] = {ATTR(XDESC), ATTR(DYDESC), ATTR(SCALE_DESC), ATTR(DXDESC),
		ATTR(MEAN_DESC), ATTR(INV_VARIANCE_DESC), ATTR(DSCALE_DESC), ATTR(DBIAS_DESC),
		ATTR(EPSILON_DESC)};
	struct tfs_norm_shape s = shape_of(step->desc);
	struct tfs_array t[9];
	double *sums = (double *)exec->workspace;
	struct rows r = {.mean = sums,
		.inverse = sums + s.stats,
		.dy_sum = sums + 2 * s.stats,
		.dyx_sum = sums + 3 * s.stats,
		.dscale = sums + 4 * s.stats,
		.dbias = sums + 4 * s.stats + s.params,
		.has_mean = tfs_norm_has_mean(s.mode),
		.count = (double)s.count};
	struct tfs_view scale;
	const struct tfs_view *views[6];

	for (int i = 0; i < 9; i++)
		t[i] = tfs_exec_array(exec, step, names[i]);
	for (size_t i = 0; i < 4 * s.stats + 2 * s.params; i++)
		sums[i] = 0;
	if (t[5].data) {
		move(&t[4], &s.stat, r.mean, read_row);
		move(&t[5], &s.stat, r.inverse, read_row);
	} else {
		tfs_norm_measure(&s, (double)*t[8].data, t[0].data, r.mean, r.inverse, NULL);
	}
	r.x = t[0].data;
	r.dy = t[1].data;
	r.scale = t[2].data;
	r.dx = t[3].data;
	scale = tfs_view_widen(&t[2].view, s.x.nd);
	views[0] = &t[0].view;
	views[1] = &t[1].view;
	views[2] = &scale;
	views[3] = &s.stat;
	views[4] = &s.param;
	views[5] = &t[3].view;
	tfs_walk(&s.x, views, 5, sum_row, &r);
	tfs_walk(&s.x, views, 6, dx_row, &r);
	move(&t[6], &s.param, r.dscale, write_row);
	move(&t[7], &s.param, r.dbias, write_row);
	return 0;
}

const struct tfs_backend_op tfs_op_norm_backward = {
	.type = CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
	.inputs = {ATTR(XDESC), ATTR(DYDESC), ATTR(SCALE_DESC), ATTR(MEAN_DESC),
		ATTR(INV_VARIANCE_DESC), ATTR(EPSILON_DESC)},
	.outputs = {ATTR(DXDESC), ATTR(DSCALE_DESC), ATTR(DBIAS_DESC)},
	.check = check,
	.unsupported = unsupported,
	.flops = flops,
	.workspace = workspace,
	.run = run,
};
