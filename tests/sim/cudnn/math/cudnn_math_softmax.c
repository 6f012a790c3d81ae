/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math.h"

#include <math.h>
#include <stdlib.h>

/*
 * The elements of one softmax: offsets relative to its first element. Per instance these are all
 * but dimension 0, per channel only dimension 1.
 */
struct group {
	const struct tfs_view *view;
	bool per_instance;
};

static bool inside(const struct group *g, int i)
{
	return g->per_instance ? i > 0 : i == 1;
}

static size_t extent(const struct group *g, bool in)
{
	size_t n = 1;

	for (int i = 0; i < g->view->nd; i++)
		if (inside(g, i) == in)
			n *= (size_t)g->view->dim[i];
	return n;
}

static ptrdiff_t offset(const struct group *g, bool in, size_t index, const struct tfs_view *v)
{
	ptrdiff_t off = 0;

	for (int i = v->nd - 1; i >= 0; i--) {
		if (inside(g, i) != in)
			continue;
		off += (ptrdiff_t)(index % (size_t)v->dim[i]) * v->stride[i];
		index /= (size_t)v->dim[i];
	}
	return off;
}

static void forward(enum tfs_softmax algo, float *v, size_t n)
{
	float top = algo == TFS_SOFTMAX_FAST ? 0.0f : v[0];
	float sum = 0.0f;

	for (size_t i = 0; i < n && algo != TFS_SOFTMAX_FAST; i++)
		top = v[i] > top ? v[i] : top;
	if (algo == TFS_SOFTMAX_LOG) {
		for (size_t i = 0; i < n; i++)
			sum += expf(v[i] - top);
		for (size_t i = 0; i < n; i++)
			v[i] = v[i] - top - logf(sum);
		return;
	}
	for (size_t i = 0; i < n; i++)
		sum += v[i] = expf(v[i] - top);
	for (size_t i = 0; i < n; i++)
		v[i] /= sum;
}

/* Replaces dy in g by the gradient. */
static void backward(enum tfs_softmax algo, const float *y, float *g, size_t n)
{
	float sum = 0.0f;

	for (size_t i = 0; i < n; i++)
		sum += algo == TFS_SOFTMAX_LOG ? g[i] : g[i] * y[i];
	for (size_t i = 0; i < n; i++) {
		if (algo == TFS_SOFTMAX_LOG)
			g[i] -= expf(y[i]) * sum;
		else
			g[i] = y[i] * (g[i] - sum);
	}
}

/* Where the elements of a softmax are; NULL without memory. */
static ptrdiff_t *places(const struct group *g, const struct tfs_view *v, size_t n)
{
	ptrdiff_t *at = malloc(n * sizeof(*at));

	for (size_t i = 0; at && i < n; i++)
		at[i] = offset(g, true, i, v);
	return at;
}

static void gather(const ptrdiff_t *at, const float *p, float *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row[i] = p[at[i]];
}

static void blend(const ptrdiff_t *at, struct tfs_blend s, const float *row, float *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float *out = p + at[i];
		float old = s.beta != 0.0f ? s.beta * *out : 0.0f;

		*out = s.alpha * row[i] + old;
	}
}

int tfs_math_softmax(enum tfs_softmax algo, bool per_instance, struct tfs_blend s,
	const struct tfs_view *xv, const float *x, const struct tfs_view *yv, float *y)
{
	struct group g = {xv, per_instance};
	size_t n = extent(&g, true);
	size_t groups = extent(&g, false);
	float *row = malloc(n * sizeof(*row));
	ptrdiff_t *x_at = places(&g, xv, n), *y_at = places(&g, yv, n);
	const bool room = row && x_at && y_at;

	for (size_t k = 0; room && k < groups; k++) {
		gather(x_at, x + offset(&g, false, k, xv), row, n);
		forward(algo, row, n);
		blend(y_at, s, row, y + offset(&g, false, k, yv), n);
	}
	free(row);
	free(x_at);
	free(y_at);
	return room ? 0 : -1;
}

int tfs_math_softmax_grad(enum tfs_softmax algo, bool per_instance, struct tfs_blend s,
	const struct tfs_view *yv, const float *y, const struct tfs_view *dyv, const float *dy,
	const struct tfs_view *dxv, float *dx)
{
	struct group g = {yv, per_instance};
	size_t n = extent(&g, true);
	size_t groups = extent(&g, false);
	float *row = malloc(2 * n * sizeof(*row));
	ptrdiff_t *y_at = places(&g, yv, n), *dy_at = places(&g, dyv, n),
		  *dx_at = places(&g, dxv, n);
	const bool room = row && y_at && dy_at && dx_at;

	for (size_t k = 0; room && k < groups; k++) {
		gather(y_at, y + offset(&g, false, k, yv), row, n);
		gather(dy_at, dy + offset(&g, false, k, dyv), row + n, n);
		backward(algo, row, row + n, n);
		blend(dx_at, s, row + n, dx + offset(&g, false, k, dxv), n);
	}
	free(row);
	free(y_at);
	free(dy_at);
	free(dx_at);
	return room ? 0 : -1;
}
