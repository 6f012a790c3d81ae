/* SPDX-License-Identifier: MIT */
/* Normalisation forward. */
#include "tests/sim/cudnn/backend/cudnn_backend_norm.h"

#include <math.h>
#include <stdlib.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_NORM_FWD_##name

struct tfs_norm_shape tfs_norm_shape_of(int mode, const struct tfs_view *x,
	const struct tfs_view *scale, const struct tfs_view *stat)
{
	struct tfs_norm_shape s = {.mode = mode, .x = *x, .param = tfs_view_widen(scale, x->nd)};

	s.stat = stat->nd ? tfs_view_widen(stat, x->nd) : s.param;
	for (int i = 0; i < x->nd && !stat->nd; i++) {
		if (mode == CUDNN_LAYER_NORM || mode == CUDNN_RMS_NORM)
			s.stat.dim[i] = s.param.dim[i] == 1 ? x->dim[i] : 1;
		else if (mode == CUDNN_INSTANCE_NORM)
			s.stat.dim[i] = i < 2 ? x->dim[i] : 1;
	}
	tfs_view_pack(&s.stat);
	tfs_view_pack(&s.param);
	s.stats = tfs_view_count(&s.stat);
	s.params = tfs_view_count(&s.param);
	s.count = tfs_view_count(x) / s.stats;
	return s;
}

const char *tfs_norm_shape_wrong(const struct tfs_norm_shape *s)
{
	if (!tfs_view_broadcasts(&s->stat, &s->x))
		return "dimensions of the statistics";
	return tfs_view_broadcasts(&s->param, &s->x) ? NULL : "dimensions of the scale";
}

bool tfs_norm_has_mean(int mode)
{
	return mode != CUDNN_RMS_NORM;
}

struct sums {
	const float *x;
	const double *mean;
	double *to;
};

static void sum_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct sums *s = arg;
	const float *x = s->x + at[0];
	double *to = s->to + at[1];

	for (size_t i = 0; i < count; i++, x += step[0], to += step[1])
		*to += (double)*x;
}

static void square_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct sums *s = arg;
	const float *x = s->x + at[0];
	const double *mean = s->mean + at[1];
	double *to = s->to + at[1];

	for (size_t i = 0; i < count; i++, x += step[0], to += step[1], mean += step[1])
		*to += ((double)*x - *mean) * ((double)*x - *mean);
}

void tfs_norm_measure(const struct tfs_norm_shape *s, double epsilon, const float *x, double *mean,
	double *inverse, double *variance)
{
	const struct tfs_view *views[2] = {&s->x, &s->stat};
	struct sums sums = {.x = x, .mean = mean, .to = mean};

	for (size_t i = 0; i < s->stats; i++)
		mean[i] = inverse[i] = 0;
	if (tfs_norm_has_mean(s->mode)) {
		tfs_walk(&s->x, views, 2, sum_row, &sums);
		for (size_t i = 0; i < s->stats; i++)
			mean[i] /= (double)s->count;
	}
	sums.to = inverse;
	tfs_walk(&s->x, views, 2, square_row, &sums);
	for (size_t i = 0; i < s->stats; i++) {
		double v = inverse[i] / (double)s->count;

		if (variance)
			variance[i] = v;
		inverse[i] = 1.0 / sqrt(v + epsilon);
	}
}

static struct tfs_norm_shape shape_of(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC));
	struct tfs_view scale = tfs_op_view(op, ATTR(SCALE_DESC));
	struct tfs_view stat = tfs_op_view(op, ATTR(INV_VARIANCE_DESC));

	return tfs_norm_shape_of((int)tfs_backend_int(op, ATTR(MODE), 0), &x, &scale, &stat);
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_norm_training);
	int mode = (int)tfs_backend_int(op, ATTR(MODE), 0);
	struct tfs_view x, y;
	struct tfs_norm_shape s;

	if (rc)
		return rc;
	x = tfs_op_view(op, ATTR(XDESC));
	y = tfs_op_view(op, ATTR(YDESC));
	if (!tfs_view_same_dims(&x, &y))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "x and y");
	s = shape_of(op);
	if (tfs_op_given(op, ATTR(SCALE_DESC)) && tfs_norm_shape_wrong(&s))
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, tfs_norm_shape_wrong(&s));
	if (tfs_op_given(op, ATTR(INPUT_RUNNING_MEAN_DESC)) !=
			tfs_op_given(op, ATTR(OUTPUT_RUNNING_MEAN_DESC)) ||
		tfs_op_given(op, ATTR(INPUT_RUNNING_VAR_DESC)) !=
			tfs_op_given(op, ATTR(OUTPUT_RUNNING_VAR_DESC)))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "one of a pair of statistics");
	if (tfs_op_given(op, ATTR(INPUT_RUNNING_MEAN_DESC)) &&
		!tfs_op_given(op, ATTR(EXP_AVG_FACTOR_DESC)))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "factor of the running statistics");
	return mode >= CUDNN_LAYER_NORM && mode <= CUDNN_ADA_LAYER_NORM
		       ? CUDNN_STATUS_SUCCESS
		       : tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "mode");
}

static const char *unsupported(const struct tfs_backend *op)
{
	int mode = (int)tfs_backend_int(op, ATTR(MODE), 0);
	bool inference = tfs_backend_int(op, ATTR(PHASE), 0) == CUDNN_NORM_FWD_INFERENCE;

	if (mode == CUDNN_GROUP_NORM || mode == CUDNN_ADA_LAYER_NORM)
		return "mode of normalisation";
	if (tfs_backend_value(op, ATTR(PEER_STAT_DESCS)))
		return "statistics over several devices";
	if (!tfs_op_given(op, ATTR(SCALE_DESC)))
		return "normalisation without a scale";
	if (inference && mode == CUDNN_BATCH_NORM && !tfs_op_given(op, ATTR(INV_VARIANCE_DESC)))
		return "inference without statistics";
	if (!tfs_op_given(op, ATTR(EPSILON_DESC)) &&
		!(inference && tfs_op_given(op, ATTR(INV_VARIANCE_DESC))))
		return "normalisation without an epsilon";
	return NULL;
}

static uint64_t flops(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC));

	return 8 * tfs_view_count(&x);
}

struct rows {
	float *y;
	const float *x, *scale, *bias;
	const double *mean, *inverse;
};

static void row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct rows *r = arg;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t t = (ptrdiff_t)i, stat = at[2] + t * step[2];
		double v = (double)r->x[at[1] + t * step[1]] - r->mean[stat];

		v *= r->inverse[stat] * (double)r->scale[at[3] + t * step[3]];
		if (r->bias)
			v += (double)r->bias[at[4] + t * step[4]];
		r->y[at[0] + t * step[0]] = (float)v;
	}
}

struct copy {
	const double *from;
	double factor;
	const float *old; /* what the rest of factor comes from, or NULL */
	float *to;
};

static void copy_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct copy *c = arg;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t t = (ptrdiff_t)i;
		double v = c->from[at[2] + t * step[2]];

		if (c->old)
			v = c->factor * v + (1.0 - c->factor) * (double)c->old[at[1] + t * step[1]];
		c->to[at[0] + t * step[0]] = (float)v;
	}
}

/* Writes statistics to a tensor that the operation may have. */
static void put(const struct tfs_norm_shape *s, const struct tfs_array *to,
	const struct tfs_array *old, double factor, const double *from)
{
	struct copy c = {from, factor, old ? old->data : NULL, to->data};
	struct tfs_view tv, ov;
	const struct tfs_view *views[3] = {&tv, &ov, &s->stat};

	if (!to->data)
		return;
	tv = tfs_view_widen(&to->view, s->x.nd);
	ov = old ? tfs_view_widen(&old->view, s->x.nd) : tv;
	tfs_walk(&s->stat, views, 3, copy_row, &c);
}

static void take_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct sums *s = arg;

	for (size_t i = 0; i < count; i++)
		s->to[at[1] + (ptrdiff_t)i * step[1]] =
			(double)s->x[at[0] + (ptrdiff_t)i * step[0]];
}

static void take(const struct tfs_norm_shape *s, const struct tfs_array *from, double *to)
{
	struct sums sums = {.x = from->data, .to = to};
	struct tfs_view view = tfs_view_widen(&from->view, s->x.nd);
	const struct tfs_view *views[2] = {&view, &s->stat};

	tfs_walk(&s->stat, views, 2, take_row, &sums);
}

static void apply(struct tfs_exec *exec, const struct tfs_step *step,
	const struct tfs_norm_shape *s, const double *mean, const double *inverse)
{
	struct tfs_array y = tfs_exec_array(exec, step, ATTR(YDESC));
	struct tfs_array x = tfs_exec_array(exec, step, ATTR(XDESC));
	struct tfs_array scale = tfs_exec_array(exec, step, ATTR(SCALE_DESC));
	struct tfs_array bias = tfs_exec_array(exec, step, ATTR(BIAS_DESC));
	struct tfs_view sv = tfs_view_widen(&scale.view, s->x.nd);
	struct tfs_view bv = tfs_view_widen(&bias.view, s->x.nd);
	const struct tfs_view *views[5] = {&y.view, &x.view, &s->stat, &sv, &bv};
	struct rows r = {y.data, x.data, scale.data, bias.data, mean, inverse};

	tfs_walk(&s->x, views, 5, row, &r);
}

static double scalar(struct tfs_exec *exec, const struct tfs_step *step, int attribute)
{
	struct tfs_array a = tfs_exec_array(exec, step, attribute);

	return a.data ? (double)*a.data : 0.0;
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	struct tfs_norm_shape s = shape_of(step->desc);
	double *mean = malloc(3 * s.stats * sizeof(*mean));
	double *inverse = mean + s.stats, *variance = inverse + s.stats;
	struct tfs_array t[6];
	static const int names[6] = {ATTR(MEAN_DESC), ATTR(INV_VARIANCE_DESC),
		ATTR(OUTPUT_RUNNING_MEAN_DESC), ATTR(INPUT_RUNNING_MEAN_DESC),
		ATTR(OUTPUT_RUNNING_VAR_DESC), ATTR(INPUT_RUNNING_VAR_DESC)};

	if (!mean)
		return -1;
	for (int i = 0; i < 6; i++)
		t[i] = tfs_exec_array(exec, step, names[i]);
	if (step->op == &tfs_op_norm_inference && t[1].data) {
		for (size_t i = 0; i < s.stats; i++)
			mean[i] = 0;
		if (t[0].data)
			take(&s, &t[0], mean);
		take(&s, &t[1], inverse);
	} else {
		double factor = scalar(exec, step, ATTR(EXP_AVG_FACTOR_DESC));

		tfs_norm_measure(&s, scalar(exec, step, ATTR(EPSILON_DESC)),
			tfs_exec_array(exec, step, ATTR(XDESC)).data, mean, inverse, variance);
		put(&s, &t[0], NULL, 1, mean);
		put(&s, &t[1], NULL, 1, inverse);
		put(&s, &t[2], &t[3], factor, mean);
		/* What is kept for inference is the unbiased estimate. */
		for (size_t i = 0; i < s.stats && s.count > 1; i++)
			variance[i] *= (double)s.count / (double)(s.count - 1);
		put(&s, &t[4], &t[5], factor, variance);
	}
	apply(exec, step, &s, mean, inverse);
	free(mean);
	return 0;
}

const struct tfs_backend_op tfs_op_norm_training = {
	.type = CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
	.inputs = {ATTR(XDESC), ATTR(SCALE_DESC), ATTR(BIAS_DESC), ATTR(EPSILON_DESC),
		ATTR(EXP_AVG_FACTOR_DESC), ATTR(INPUT_RUNNING_MEAN_DESC),
		ATTR(INPUT_RUNNING_VAR_DESC)},
	.outputs = {ATTR(YDESC), ATTR(MEAN_DESC), ATTR(INV_VARIANCE_DESC),
		ATTR(OUTPUT_RUNNING_MEAN_DESC), ATTR(OUTPUT_RUNNING_VAR_DESC)},
	.check = check,
	.unsupported = unsupported,
	.flops = flops,
	.run = run,
};

const struct tfs_backend_op tfs_op_norm_inference = {
	.type = CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
	.inputs = {ATTR(XDESC), ATTR(SCALE_DESC), ATTR(BIAS_DESC), ATTR(EPSILON_DESC),
		ATTR(MEAN_DESC), ATTR(INV_VARIANCE_DESC)},
	.outputs = {ATTR(YDESC)},
	.check = check,
	.unsupported = unsupported,
	.flops = flops,
	.run = run,
};
