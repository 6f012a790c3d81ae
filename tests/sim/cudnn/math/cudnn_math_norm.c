/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_norm.h"

#include <math.h>

/* The elements behind one statistic: a view of its own and where it begins. */
struct part {
	struct tfs_view view;
	ptrdiff_t start;
};

size_t tfs_norm_params(bool per_activation, const struct tfs_view *xv)
{
	size_t n = 1;

	for (int i = 1; i < (per_activation ? xv->nd : 2); i++)
		n *= (size_t)xv->dim[i];
	return n;
}

static struct part part_of(bool per_activation, const struct tfs_view *v, size_t index)
{
	struct part p = {*v, 0};

	for (int i = (per_activation ? v->nd : 2) - 1; i >= 1; i--) {
		p.start += (ptrdiff_t)(index % (size_t)v->dim[i]) * v->stride[i];
		index /= (size_t)v->dim[i];
		p.view.dim[i] = 1;
	}
	return p;
}

struct moments {
	double mean;
	double a, b; /* sums, by the row function that fills them */
};

static void row_mean(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	struct moments *m = *(struct moments *const *)arg;
	const float *x = p[0];

	for (size_t i = 0; i < count; i++, x += step[0])
		m->a += (double)*x;
}

static void row_square(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	struct moments *m = *(struct moments *const *)arg;
	const float *x = p[0];

	for (size_t i = 0; i < count; i++, x += step[0])
		m->b += ((double)*x - m->mean) * ((double)*x - m->mean);
}

/* Mean and mean square deviation of a part. */
static void measure(const struct part *p, const float *x, double *out_mean, double *out_variance)
{
	struct tfs_operand op = {(float *)x + p->start, &p->view};
	struct moments m = {0};
	struct moments *to = &m;
	double count = (double)tfs_view_count(&p->view);

	tfs_map(&op, 1, row_mean, &to);
	m.mean = m.a / count;
	tfs_map(&op, 1, row_square, &to);
	*out_mean = m.mean;
	*out_variance = m.b / count;
}

struct affine {
	double mean, factor, bias;
	struct tfs_blend s;
};

static void row_affine(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	const struct affine *a = arg;
	float *y = p[0];
	const float *x = p[1];

	for (size_t i = 0; i < count; i++, y += step[0], x += step[1]) {
		float v = (float)(((double)*x - a->mean) * a->factor + a->bias);
		float old = a->s.beta != 0.0f ? a->s.beta * *y : 0.0f;

		*y = a->s.alpha * v + old;
	}
}

static void apply(
	const struct tfs_norm *n, size_t index, const struct affine *a, const float *x, float *y)
{
	struct part xp = part_of(n->per_activation, &n->xv, index);
	struct part yp = part_of(n->per_activation, &n->yv, index);
	struct tfs_operand op[2] = {{y + yp.start, &yp.view}, {(float *)x + xp.start, &xp.view}};

	tfs_map(op, 2, row_affine, a);
}

static void running(float *value, double factor, double now)
{
	/* Factor 1 does not read what may never have been written. */
	double old = factor < 1.0 ? (double)*value * (1.0 - factor) : 0.0;

	*value = (float)(now * factor + old);
}

void tfs_norm_train(const struct tfs_norm *n, const float *x, const float *scale, const float *bias,
	const struct tfs_norm_stats *stats, float *y)
{
	size_t params = tfs_norm_params(n->per_activation, &n->xv);

	for (size_t i = 0; i < params; i++) {
		struct part p = part_of(n->per_activation, &n->xv, i);
		double count = (double)tfs_view_count(&p.view);
		double mean, variance, inverse;
		struct affine a = {.s = n->data};

		measure(&p, x, &mean, &variance);
		inverse = 1.0 / sqrt(variance + n->epsilon);
		a.mean = mean;
		a.factor = inverse * (double)scale[i];
		a.bias = (double)bias[i];
		apply(n, i, &a, x, y);
		if (stats->running_mean) {
			running(&stats->running_mean[i], stats->factor, mean);
			running(&stats->running_variance[i], stats->factor,
				count > 1.0 ? variance * count / (count - 1.0) : variance);
		}
		if (stats->saved_mean) {
			stats->saved_mean[i] = (float)mean;
			stats->saved_inverse[i] = (float)inverse;
		}
	}
}

void tfs_norm_infer(const struct tfs_norm *n, const float *x, const float *scale, const float *bias,
	const float *mean, const float *variance, float *y)
{
	size_t params = tfs_norm_params(n->per_activation, &n->xv);

	for (size_t i = 0; i < params; i++) {
		struct affine a = {.s = n->data, .mean = (double)mean[i], .bias = (double)bias[i]};

		a.factor = (double)scale[i] / sqrt((double)variance[i] + n->epsilon);
		apply(n, i, &a, x, y);
	}
}

struct grad {
	double mean, inverse, factor;
	double sum_dy, sum_dyx; /* over the part; the second with normalized x */
	double count;
	struct tfs_blend s;
};

static void row_sums(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	struct grad *g = *(struct grad *const *)arg;
	const float *x = p[0], *dy = p[1];

	for (size_t i = 0; i < count; i++, x += step[0], dy += step[1]) {
		g->sum_dy += (double)*dy;
		g->sum_dyx += (double)*dy * ((double)*x - g->mean) * g->inverse;
	}
}

static void row_grad(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	const struct grad *g = arg;
	float *dx = p[0];
	const float *x = p[1], *dy = p[2];

	for (size_t i = 0; i < count; i++, dx += step[0], x += step[1], dy += step[2]) {
		double hat = ((double)*x - g->mean) * g->inverse;
		double v = (double)*dy - (g->sum_dy + hat * g->sum_dyx) / g->count;
		float old = g->s.beta != 0.0f ? g->s.beta * *dx : 0.0f;

		*dx = g->s.alpha * (float)(v * g->factor) + old;
	}
}

static void put(struct tfs_blend s, float *to, double v)
{
	float old = s.beta != 0.0f ? s.beta * *to : 0.0f;

	*to = s.alpha * (float)v + old;
}

void tfs_norm_grad(const struct tfs_norm *n, const float *x, const float *dy, const float *scale,
	const float *saved_mean, const float *saved_inverse, float *dx, float *dscale, float *dbias)
{
	size_t params = tfs_norm_params(n->per_activation, &n->xv);

	for (size_t i = 0; i < params; i++) {
		struct part xp = part_of(n->per_activation, &n->xv, i);
		struct part yp = part_of(n->per_activation, &n->dyv, i);
		struct part dp = part_of(n->per_activation, &n->dxv, i);
		struct tfs_operand in[2] = {
			{(float *)x + xp.start, &xp.view}, {(float *)dy + yp.start, &yp.view}};
		struct tfs_operand all[3] = {{dx + dp.start, &dp.view}, in[0], in[1]};
		struct grad g = {.s = n->data, .count = (double)tfs_view_count(&xp.view)};
		struct grad *to = &g;
		double variance;

		measure(&xp, x, &g.mean, &variance);
		g.inverse = 1.0 / sqrt(variance + n->epsilon);
		if (saved_mean) {
			g.mean = (double)saved_mean[i];
			g.inverse = (double)saved_inverse[i];
		}
		g.factor = g.inverse * (double)scale[i];
		tfs_map(in, 2, row_sums, &to);
		tfs_map(all, 3, row_grad, &g);
		put(n->param, &dscale[i], g.sum_dyx);
		put(n->param, &dbias[i], g.sum_dy);
	}
}
