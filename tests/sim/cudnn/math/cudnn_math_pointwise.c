/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math.h"

#include <math.h>

static void add_row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	const struct tfs_blend *s = arg;
	float *y = p[0];
	const float *x = p[1];

	if (s->beta == 0.0f)
		for (size_t i = 0; i < count; i++, y += step[0], x += step[1])
			*y = s->alpha * *x;
	else
		for (size_t i = 0; i < count; i++, y += step[0], x += step[1])
			*y = s->alpha * *x + s->beta * *y;
}

void tfs_math_add(struct tfs_blend s, const struct tfs_view *xv, const float *x,
	const struct tfs_view *yv, float *y)
{
	struct tfs_operand op[2] = {{y, yv}, {(float *)x, xv}};

	tfs_map(op, 2, add_row, &s);
}

static void sum_row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	double *sum = *(double *const *)arg;
	const float *x = p[0];

	for (size_t i = 0; i < count; i++, x += step[0])
		*sum += (double)*x;
}

float tfs_math_sum(const struct tfs_view *xv, const float *x)
{
	struct tfs_operand op = {(float *)x, xv};
	double sum = 0.0;
	double *to = &sum;

	tfs_map(&op, 1, sum_row, &to);
	return (float)sum;
}

static void fill_row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	float value = *(const float *)arg;
	float *y = p[0];

	for (size_t i = 0; i < count; i++, y += step[0])
		*y = value;
}

void tfs_math_fill(const struct tfs_view *yv, float *y, float value)
{
	struct tfs_operand op = {y, yv};

	tfs_map(&op, 1, fill_row, &value);
}

struct op2 {
	enum tfs_op2 op;
	float alpha1, alpha2, beta;
};

static float op2_one(const struct op2 *o, float a, float b)
{
	switch (o->op) {
	case TFS_OP_ADD:
		return a + b;
	case TFS_OP_MUL:
		return a * b;
	case TFS_OP_MIN:
		return fminf(a, b);
	case TFS_OP_MAX:
		return fmaxf(a, b);
	case TFS_OP_SQRT:
		return sqrtf(a);
	case TFS_OP_NOT:
		return 1.0f - a;
	}
	return 0.0f;
}

static void op2_row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	const struct op2 *o = arg;
	float *c = p[0];
	const float *a = p[1];
	const float *b = p[2];

	for (size_t i = 0; i < count; i++, c += step[0], a += step[1], b += step[2]) {
		float old = o->beta != 0.0f ? o->beta * *c : 0.0f;

		*c = op2_one(o, o->alpha1 * *a, o->alpha2 * *b) + old;
	}
}

void tfs_math_op(enum tfs_op2 op, float alpha1, const struct tfs_view *av, const float *a,
	float alpha2, const struct tfs_view *bv, const float *b, float beta,
	const struct tfs_view *cv, float *c)
{
	struct op2 o = {op, alpha1, alpha2, beta};
	bool unary = op == TFS_OP_SQRT || op == TFS_OP_NOT;
	struct tfs_operand all[3] = {
		{c, cv}, {(float *)a, av}, {(float *)(unary ? a : b), unary ? av : bv}};

	tfs_map(all, 3, op2_row, &o);
}

enum { SIGMOID, RELU, TANH, CLIPPED_RELU, ELU, IDENTITY, SWISH };

float tfs_act_apply(const struct tfs_act *a, float x)
{
	switch (a->mode) {
	case SIGMOID:
		return 1.0f / (1.0f + expf(-x));
	case RELU:
		return x > 0.0f || (a->propagate_nan && isnan(x)) ? x : 0.0f;
	case TANH:
		return tanhf(x);
	case CLIPPED_RELU:
		if (isnan(x))
			return a->propagate_nan ? x : 0.0f;
		return fminf(fmaxf(x, 0.0f), a->coef);
	case ELU:
		return x < 0.0f ? a->coef * expm1f(x) : x;
	case SWISH:
		return x / (1.0f + expf(-a->swish_beta * x));
	default:
		return x;
	}
}

static float slope(const struct tfs_act *a, float x, float y)
{
	float t;

	switch (a->mode) {
	case SIGMOID:
		return y * (1.0f - y);
	case RELU:
		return x > 0.0f ? 1.0f : 0.0f;
	case TANH:
		return 1.0f - y * y;
	case CLIPPED_RELU:
		return x > 0.0f && x <= a->coef ? 1.0f : 0.0f;
	case ELU:
		return x < 0.0f ? y + a->coef : 1.0f;
	case SWISH:
		t = 1.0f / (1.0f + expf(-a->swish_beta * x));
		return t + a->swish_beta * x * t * (1.0f - t);
	default:
		return 1.0f;
	}
}

struct act_args {
	const struct tfs_act *act;
	struct tfs_blend s;
};

/* The usual case, worth a loop without branches and, for packed data, without steps. */
static void relu(size_t count, float alpha, float *y, ptrdiff_t ys, const float *x, ptrdiff_t xs)
{
	if (ys == 1 && xs == 1)
		for (size_t i = 0; i < count; i++)
			y[i] = alpha * (x[i] > 0.0f ? x[i] : 0.0f);
	else
		for (size_t i = 0; i < count; i++, y += ys, x += xs)
			*y = alpha * (*x > 0.0f ? *x : 0.0f);
}

static void relu_grad(size_t count, float alpha, float *const *p)
{
	float *dx = p[0];
	const float *dy = p[2], *x = p[3];

	for (size_t i = 0; i < count; i++) {
		float g = alpha * dy[i];

		dx[i] = x[i] > 0.0f ? g : 0.0f;
	}
}

static void act_row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	const struct act_args *a = arg;
	float *y = p[0];
	const float *x = p[1];

	if (a->act->mode == RELU && !a->act->propagate_nan && a->s.beta == 0.0f) {
		relu(count, a->s.alpha, y, step[0], x, step[1]);
		return;
	}
	for (size_t i = 0; i < count; i++, y += step[0], x += step[1]) {
		float old = a->s.beta != 0.0f ? a->s.beta * *y : 0.0f;

		*y = a->s.alpha * tfs_act_apply(a->act, *x) + old;
	}
}

void tfs_math_act(const struct tfs_act *a, struct tfs_blend s, const struct tfs_view *xv,
	const float *x, const struct tfs_view *yv, float *y)
{
	struct act_args args = {a, s};
	struct tfs_operand op[2] = {{y, yv}, {(float *)x, xv}};

	tfs_map(op, 2, act_row, &args);
}

static void act_grad_row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	const struct act_args *a = arg;
	float *dx = p[0];
	const float *y = p[1];
	const float *dy = p[2];
	const float *x = p[3];

	if (a->act->mode == RELU && a->s.beta == 0.0f && step[0] == 1 && step[2] == 1 &&
		step[3] == 1) {
		relu_grad(count, a->s.alpha, p);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		float old = a->s.beta != 0.0f ? a->s.beta * *dx : 0.0f;

		*dx = a->s.alpha * *dy * slope(a->act, *x, *y) + old;
		dx += step[0];
		y += step[1];
		dy += step[2];
		x += step[3];
	}
}

void tfs_math_act_grad(const struct tfs_act *a, struct tfs_blend s, const struct tfs_operand op[4])
{
	struct act_args args = {a, s};

	tfs_map(op, 4, act_grad_row, &args);
}
