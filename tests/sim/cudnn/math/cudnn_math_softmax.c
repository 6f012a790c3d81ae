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
		top = fmaxf(top, v[i]);
	for (size_t i = 0; i < n; i++)
		sum += expf(v[i] - top);
	for (size_t i = 0; i < n; i++) {
		if (algo == TFS_SOFTMAX_LOG)
			v[i] = v[i] - top - logf(sum);
		else
			v[i] = expf(v[i] - top) / sum;
	}
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

static void gather(
	const struct group *g, const struct tfs_view *v, const float *p, float *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row[i] = p[offset(g, true, i, v)];
}

static void blend(const struct group *g, const struct tfs_view *v, struct tfs_blend s,
	const float *row, float *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float *out = p + offset(g, true, i, v);
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

	if (!row)
		return -1;
	for (size_t k = 0; k < groups; k++) {
		gather(&g, xv, x + offset(&g, false, k, xv), row, n);
		forward(algo, row, n);
		blend(&g, yv, s, row, y + offset(&g, false, k, yv), n);
	}
	free(row);
	return 0;
}

int tfs_math_softmax_grad(enum tfs_softmax algo, bool per_instance, struct tfs_blend s,
	const struct tfs_view *yv, const float *y, const struct tfs_view *dyv, const float *dy,
	const struct tfs_view *dxv, float *dx)
{
	struct group g = {yv, per_instance};
	size_t n = extent(&g, true);
	size_t groups = extent(&g, false);
	float *row = malloc(2 * n * sizeof(*row));

	if (!row)
		return -1;
	for (size_t k = 0; k < groups; k++) {
		gather(&g, yv, y + offset(&g, false, k, yv), row, n);
		gather(&g, dyv, dy + offset(&g, false, k, dyv), row + n, n);
		backward(algo, row, row + n, n);
		blend(&g, dxv, s, row + n, dx + offset(&g, false, k, dxv), n);
	}
	free(row);
	return 0;
}
