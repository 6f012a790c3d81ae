/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The unit of work is one row of outputs. The window's elements come one after the other, each for
 * the whole row, so that the inner loops are without branches.
 */
struct row {
	const struct tfs_pool *pool;
	float *value; /* out[2] of them: maximum or sum */
	int *place;   /* the maximum's index in the packed image, or -1 */
	float *image; /* one packed image of gradients */
};

/* One element of the window over the row. */
struct tap {
	const float *x; /* of output 0, which may lie outside */
	ptrdiff_t step;
	int lo, hi; /* the outputs for which it lies inside */
	int place;
};

static int row_init(struct row *r, const struct tfs_pool *p, size_t image)
{
	size_t n = (size_t)p->out[2];

	r->pool = p;
	r->value = malloc((n + image) * sizeof(*r->value) + n * sizeof(*r->place));
	if (!r->value)
		return -1;
	r->image = r->value + n;
	r->place = (int *)(r->image + image);
	return 0;
}

/* The tap at window position k of the row (d, h); false when it lies outside altogether. */
static bool tap_at(
	const struct tfs_pool *p, int d, int h, const int k[3], const float *x, struct tap *out)
{
	int id = d * p->stride[0] - p->pad[0] + k[0];
	int ih = h * p->stride[1] - p->pad[1] + k[1];
	int start = k[2] - p->pad[2];
	int step = p->stride[2];

	if (id < 0 || id >= p->in[0] || ih < 0 || ih >= p->in[1] || start >= p->in[2])
		return false;
	out->x = x + id * p->xs[2] + ih * p->xs[3] + start * p->xs[4];
	out->step = step * p->xs[4];
	out->lo = start >= 0 ? 0 : (-start + step - 1) / step;
	out->hi = (p->in[2] - 1 - start) / step + 1;
	if (out->hi > p->out[2])
		out->hi = p->out[2];
	out->place = (id * p->in[1] + ih) * p->in[2] + start;
	return out->lo < out->hi;
}

static bool next_tap(const struct tfs_pool *p, int k[3])
{
	for (int i = 2; i >= 0; i--) {
		if (++k[i] < p->win[i])
			return true;
		k[i] = 0;
	}
	return false;
}

static void take_max(const struct row *r, const struct tap *t)
{
	float *restrict value = r->value;
	const float *x = t->x;

	if (r->pool->propagate_nan)
		for (int i = t->lo; i < t->hi; i++) {
			float v = x[i * t->step];

			value[i] = v > value[i] || v != v ? v : value[i];
		}
	else
		for (int i = t->lo; i < t->hi; i++) {
			float v = x[i * t->step];

			value[i] = v > value[i] ? v : value[i];
		}
}

/* The first element of a window is its maximum until a larger one comes. */
static void take_place(const struct row *r, const struct tap *t)
{
	float *restrict value = r->value;
	int *restrict place = r->place;
	const float *x = t->x;
	int step = r->pool->stride[2];
	bool nan = r->pool->propagate_nan;

	for (int i = t->lo; i < t->hi; i++) {
		float v = x[i * t->step], top = value[i];
		int here = t->place + i * step, old = place[i];
		bool larger = nan ? v > top || (v != v && top == top) : v > top;

		value[i] = larger ? v : top;
		place[i] = larger || old < 0 ? here : old;
	}
}

static void take_sum(const struct row *r, const struct tap *t)
{
	float *restrict value = r->value;
	const float *x = t->x;

	for (int i = t->lo; i < t->hi; i++)
		value[i] += x[i * t->step];
}

/* Outputs of one row along axis i: how many of the window's elements lie inside. */
static int inside(const struct tfs_pool *p, int axis, int at)
{
	int from = at * p->stride[axis] - p->pad[axis];
	int to = from + p->win[axis];

	from = from < 0 ? 0 : from;
	to = to > p->in[axis] ? p->in[axis] : to;
	return to > from ? to - from : 0;
}

static float share(const struct tfs_pool *p, int d, int h, int w)
{
	int count = p->win[0] * p->win[1] * p->win[2];

	if (p->mode == TFS_POOL_MEAN)
		count = inside(p, 0, d) * inside(p, 1, h) * inside(p, 2, w);
	return count ? 1.0f / (float)count : 0.0f;
}

static void forward_row(const struct row *r, int d, int h, const float *x)
{
	const struct tfs_pool *p = r->pool;
	bool max = p->mode == TFS_POOL_MAX;
	int k[3] = {0};
	struct tap t;

	for (int i = 0; i < p->out[2]; i++)
		r->value[i] = max ? -INFINITY : 0.0f;
	do {
		if (!tap_at(p, d, h, k, x, &t))
			continue;
		if (max)
			take_max(r, &t);
		else
			take_sum(r, &t);
	} while (next_tap(p, k));
	for (int i = 0; i < p->out[2] && !max; i++)
		r->value[i] *= share(p, d, h, i);
}

static void store(struct tfs_blend s, const float *from, int n, float *to, ptrdiff_t step)
{
	if (s.beta == 0.0f)
		for (int i = 0; i < n; i++)
			to[i * step] = s.alpha * from[i];
	else
		for (int i = 0; i < n; i++)
			to[i * step] = s.alpha * from[i] + s.beta * to[i * step];
}

int tfs_math_pool(const struct tfs_pool *p, struct tfs_blend s, const float *x, float *y)
{
	struct row r;

	if (row_init(&r, p, 0))
		return -1;
	for (int n = 0; n < p->n; n++)
		for (int c = 0; c < p->c; c++)
			for (int d = 0; d < p->out[0]; d++)
				for (int h = 0; h < p->out[1]; h++) {
					forward_row(&r, d, h, x + n * p->xs[0] + c * p->xs[1]);
					store(s, r.value, p->out[2],
						y + n * p->ys[0] + c * p->ys[1] + d * p->ys[2] +
							h * p->ys[3],
						p->ys[4]);
				}
	free(r.value);
	return 0;
}

static void backward_max(
	const struct row *r, int d, int h, int first, const float *x, const float *g)
{
	const struct tfs_pool *p = r->pool;
	int k[3] = {0};
	struct tap t;

	for (int i = 0; i < p->out[2]; i++) {
		r->value[i] = -INFINITY;
		r->place[i] = -1;
	}
	do {
		if (tap_at(p, d, h, k, x, &t))
			take_place(r, &t);
	} while (next_tap(p, k));
	for (int j = 0, i = first; j < p->out[2]; j++, i = i + 1 < p->out[2] ? i + 1 : 0)
		if (r->place[i] >= 0)
			r->image[r->place[i]] += g[i * p->dys[4]];
}

static void backward_mean(const struct row *r, int d, int h, const float *x, const float *g)
{
	const struct tfs_pool *p = r->pool;
	int k[3] = {0};
	struct tap t;

	for (int i = 0; i < p->out[2]; i++)
		r->value[i] = g[i * p->dys[4]] * share(p, d, h, i);
	do {
		if (!tap_at(p, d, h, k, x, &t))
			continue;
		for (int i = t.lo; i < t.hi; i++)
			r->image[t.place + i * p->stride[2]] += r->value[i];
	} while (next_tap(p, k));
}

static void backward_image(const struct row *r, uint64_t first, const float *x, const float *dy)
{
	const struct tfs_pool *p = r->pool;
	int rows = p->out[0] * p->out[1];
	int begin = (int)(first % (uint64_t)rows);
	int column = (int)(first % (uint64_t)p->out[2]);

	for (int j = 0; j < rows; j++) {
		int d = (begin + j) % rows / p->out[1];
		int h = (begin + j) % rows % p->out[1];
		const float *g = dy + d * p->dys[2] + h * p->dys[3];

		if (p->mode == TFS_POOL_MAX)
			backward_max(r, d, h, column, x, g);
		else
			backward_mean(r, d, h, x, g);
	}
}

int tfs_math_pool_grad(const struct tfs_pool *p, struct tfs_blend s, uint64_t first, const float *x,
	const float *dy, float *dx)
{
	size_t image = (size_t)p->in[0] * (size_t)p->in[1] * (size_t)p->in[2];
	struct row r;

	if (row_init(&r, p, image))
		return -1;
	for (int n = 0; n < p->n; n++)
		for (int c = 0; c < p->c; c++) {
			float *to = dx + n * p->dxs[0] + c * p->dxs[1];
			const float *from = r.image;

			memset(r.image, 0, image * sizeof(*r.image));
			backward_image(&r, first, x + n * p->xs[0] + c * p->xs[1],
				dy + n * p->dys[0] + c * p->dys[1]);
			for (int d = 0; d < p->in[0]; d++)
				for (int h = 0; h < p->in[1]; h++, from += p->in[2])
					store(s, from, p->in[2], to + d * p->dxs[2] + h * p->dxs[3],
						p->dxs[4]);
		}
	free(r.value);
	return 0;
}
