/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn_math_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of one window that lies inside the input. */
struct window {
	int from[3], to[3];
	float share; /* weight of one element in a mean */
};

static struct window locate(const struct tfs_pool *p, const int at[3])
{
	struct window w;
	int full = 1, count = 1;

	for (int i = 0; i < 3; i++) {
		int start = at[i] * p->stride[i] - p->pad[i];

		w.from[i] = start < 0 ? 0 : start;
		w.to[i] = start + p->win[i] > p->in[i] ? p->in[i] : start + p->win[i];
		full *= p->win[i];
		count *= w.to[i] > w.from[i] ? w.to[i] - w.from[i] : 0;
	}
	if (p->mode == TFS_POOL_MEAN_PADDED)
		count = full;
	w.share = count ? 1.0f / (float)count : 0.0f;
	return w;
}

static float mean(const struct tfs_pool *p, const struct window *w, const float *x)
{
	float sum = 0.0f;

	for (int d = w->from[0]; d < w->to[0]; d++)
		for (int h = w->from[1]; h < w->to[1]; h++)
			for (int i = w->from[2]; i < w->to[2]; i++)
				sum += x[d * p->xs[2] + h * p->xs[3] + i * p->xs[4]];
	return sum * w->share;
}

/* The first largest element; a NaN is larger than everything when NaNs propagate. */
static float largest(const struct tfs_pool *p, const struct window *w, const float *x, int at[3])
{
	float best = -INFINITY;
	bool found = false;

	for (int d = w->from[0]; d < w->to[0]; d++)
		for (int h = w->from[1]; h < w->to[1]; h++)
			for (int i = w->from[2]; i < w->to[2]; i++) {
				float v = x[d * p->xs[2] + h * p->xs[3] + i * p->xs[4]];

				if (found && !(v > best) &&
					!(p->propagate_nan && isnan(v) && !isnan(best)))
					continue;
				best = v;
				found = true;
				at[0] = d;
				at[1] = h;
				at[2] = i;
				if (isnan(best) && !p->propagate_nan) {
					best = -INFINITY;
					found = false;
				}
			}
	return best;
}

static void unrank(const struct tfs_pool *p, size_t index, int at[3])
{
	for (int i = 2; i >= 0; i--) {
		at[i] = (int)(index % (size_t)p->out[i]);
		index /= (size_t)p->out[i];
	}
}

static size_t windows(const struct tfs_pool *p)
{
	return (size_t)p->out[0] * (size_t)p->out[1] * (size_t)p->out[2];
}

void tfs_math_pool(const struct tfs_pool *p, struct tfs_blend s, const float *x, float *y)
{
	size_t count = windows(p);
	int at[3], top[3];

	for (int n = 0; n < p->n; n++)
		for (int c = 0; c < p->c; c++) {
			const float *from = x + n * p->xs[0] + c * p->xs[1];
			float *to = y + n * p->ys[0] + c * p->ys[1];

			for (size_t i = 0; i < count; i++) {
				struct window w;
				float *out, v, old;

				unrank(p, i, at);
				w = locate(p, at);
				v = p->mode == TFS_POOL_MAX ? largest(p, &w, from, top)
							    : mean(p, &w, from);
				out = to + at[0] * p->ys[2] + at[1] * p->ys[3] + at[2] * p->ys[4];
				old = s.beta != 0.0f ? s.beta * *out : 0.0f;
				*out = s.alpha * v + old;
			}
		}
}

static void spread_one(
	const struct tfs_pool *p, const int at[3], const float *x, float g, float *sum)
{
	struct window w = locate(p, at);
	ptrdiff_t row = p->in[2];
	ptrdiff_t plane = row * p->in[1];
	int top[3] = {-1, 0, 0};

	if (p->mode == TFS_POOL_MAX) {
		largest(p, &w, x, top);
		if (top[0] >= 0)
			sum[top[0] * plane + top[1] * row + top[2]] += g;
		return;
	}
	for (int d = w.from[0]; d < w.to[0]; d++)
		for (int h = w.from[1]; h < w.to[1]; h++)
			for (int i = w.from[2]; i < w.to[2]; i++)
				sum[d * plane + h * row + i] += g * w.share;
}

static void store(const struct tfs_pool *p, struct tfs_blend s, const float *sum, float *dx)
{
	for (int d = 0; d < p->in[0]; d++)
		for (int h = 0; h < p->in[1]; h++)
			for (int i = 0; i < p->in[2]; i++) {
				float *to = dx + d * p->dxs[2] + h * p->dxs[3] + i * p->dxs[4];
				float old = s.beta != 0.0f ? s.beta * *to : 0.0f;

				*to = s.alpha * *sum++ + old;
			}
}

int tfs_math_pool_grad(const struct tfs_pool *p, struct tfs_blend s, uint64_t first, const float *x,
	const float *dy, float *dx)
{
	size_t image = (size_t)p->in[0] * (size_t)p->in[1] * (size_t)p->in[2];
	size_t count = windows(p);
	float *sum = malloc(image * sizeof(*sum));
	int at[3];

	if (!sum)
		return -1;
	for (int n = 0; n < p->n; n++)
		for (int c = 0; c < p->c; c++) {
			const float *g = dy + n * p->dys[0] + c * p->dys[1];
			const float *from = x + n * p->xs[0] + c * p->xs[1];

			memset(sum, 0, image * sizeof(*sum));
			for (size_t i = 0; i < count; i++) {
				unrank(p, (i + first) % count, at);
				spread_one(p, at, from,
					g[at[0] * p->dys[2] + at[1] * p->dys[3] +
						at[2] * p->dys[4]],
					sum);
			}
			store(p, s, sum, dx + n * p->dxs[0] + c * p->dxs[1]);
		}
	free(sum);
	return 0;
}
