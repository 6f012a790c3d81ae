/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_col.h"

#include <string.h>

size_t tfs_col_rows(const struct tfs_conv *v)
{
	return (size_t)(v->c / v->groups) * (size_t)v->flt[0] * (size_t)v->flt[1] *
	       (size_t)v->flt[2];
}

size_t tfs_col_positions(const struct tfs_conv *v)
{
	return (size_t)v->out[0] * (size_t)v->out[1] * (size_t)v->out[2];
}

struct row {
	int c;
	int tap[3];
};

static struct row split(const struct tfs_conv *v, size_t r)
{
	struct row w;

	for (int i = 2; i >= 0; i--) {
		w.tap[i] = (int)(r % (size_t)v->flt[i]);
		r /= (size_t)v->flt[i];
	}
	w.c = (int)r;
	return w;
}

ptrdiff_t tfs_col_tap(const struct tfs_conv *v, size_t r)
{
	struct row w = split(v, r);
	ptrdiff_t off = w.c * v->ws[1];

	for (int i = 0; i < 3; i++)
		off += (v->flip ? v->flt[i] - 1 - w.tap[i] : w.tap[i]) * v->ws[2 + i];
	return off;
}

struct span {
	int lo, hi; /* output positions whose input position exists */
	int start;  /* input position of output position 0 */
};

static struct span reach(const struct tfs_conv *v, int axis, int tap)
{
	struct span s;
	int step = v->stride[axis];

	s.start = tap * v->dil[axis] - v->pad[axis];
	s.lo = s.start >= 0 ? 0 : (-s.start + step - 1) / step;
	s.hi = s.start >= v->in[axis] ? 0 : (v->in[axis] - 1 - s.start) / step + 1;
	if (s.hi > v->out[axis])
		s.hi = v->out[axis];
	if (s.lo > s.hi)
		s.lo = s.hi;
	return s;
}

static void fill_line(const struct tfs_conv *v, struct span s, const float *x, float *col)
{
	ptrdiff_t step = v->xs[4] * v->stride[2];
	const float *from = x + (s.start + s.lo * v->stride[2]) * v->xs[4];

	for (int i = 0; i < s.lo; i++)
		col[i] = 0.0f;
	if (step == 1)
		memcpy(col + s.lo, from, (size_t)(s.hi - s.lo) * sizeof(*col));
	else
		for (int i = s.lo; i < s.hi; i++, from += step)
			col[i] = *from;
	for (int i = s.hi; i < v->out[2]; i++)
		col[i] = 0.0f;
}

static void fill_row(const struct tfs_conv *v, struct row r, const float *x, float *col)
{
	struct span s[3];

	for (int i = 0; i < 3; i++)
		s[i] = reach(v, i, r.tap[i]);
	x += r.c * v->xs[1];
	for (int d = 0; d < v->out[0]; d++) {
		for (int h = 0; h < v->out[1]; h++, col += v->out[2]) {
			ptrdiff_t id = s[0].start + d * v->stride[0];
			ptrdiff_t ih = s[1].start + h * v->stride[1];

			if (d < s[0].lo || d >= s[0].hi || h < s[1].lo || h >= s[1].hi)
				memset(col, 0, (size_t)v->out[2] * sizeof(*col));
			else
				fill_line(v, s[2], x + id * v->xs[2] + ih * v->xs[3], col);
		}
	}
}

void tfs_col_fill(const struct tfs_conv *v, const int32_t *row, const float *x, float *col)
{
	size_t rows = tfs_col_rows(v);
	size_t positions = tfs_col_positions(v);

	for (size_t r = 0; r < rows; r++)
		fill_row(v, split(v, (size_t)row[r]), x, col + r * positions);
}

static void scatter_row(const struct tfs_conv *v, struct row r, const float *col, float *image)
{
	struct span s[3];
	ptrdiff_t plane = (ptrdiff_t)v->in[1] * v->in[2];

	for (int i = 0; i < 3; i++)
		s[i] = reach(v, i, r.tap[i]);
	image += r.c * v->in[0] * plane;
	for (int d = s[0].lo; d < s[0].hi; d++) {
		for (int h = s[1].lo; h < s[1].hi; h++) {
			const float *from = col + ((ptrdiff_t)d * v->out[1] + h) * v->out[2];
			float *to = image + (s[0].start + d * v->stride[0]) * plane +
				    (s[1].start + h * v->stride[1]) * v->in[2] + s[2].start;

			for (int w = s[2].lo; w < s[2].hi; w++)
				to[w * v->stride[2]] += from[w];
		}
	}
}

void tfs_col_scatter(const struct tfs_conv *v, size_t first, const float *col, float *image)
{
	size_t taps = (size_t)v->flt[0] * (size_t)v->flt[1] * (size_t)v->flt[2];
	size_t rows = tfs_col_rows(v);
	size_t positions = tfs_col_positions(v);

	for (size_t i = 0; i < rows; i++) {
		size_t r = i / taps * taps + (i + first) % taps;

		scatter_row(v, split(v, r), col + r * positions, image);
	}
}
