/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn_math_conv.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn_math_col.h"

#define MAX_PIECES 8

/* One group of one image is the unit of work; these are its sizes and its scratch. */
struct unit {
	const struct tfs_conv *v;
	int cg, kg;
	size_t rows, positions;
	float *w;   /* kg x rows */
	float *col; /* rows x positions */
	float *y;   /* kg x positions */
	float *sum; /* as w, or one packed image */
	int pieces;
	size_t order[MAX_PIECES];
	uint64_t random;
};

static uint64_t draw(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x >> 11;
}

static void shuffle(uint64_t *state, size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = draw(state) % i;
		size_t t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

static size_t round_up(size_t floats)
{
	return (floats + 15) / 16 * 16;
}

static int unit_init(struct unit *u, const struct tfs_conv *v, struct tfs_sum_order o, size_t sum)
{
	size_t w, col, y;

	memset(u, 0, sizeof(*u));
	u->v = v;
	u->cg = v->c / v->groups;
	u->kg = v->k / v->groups;
	u->rows = tfs_col_rows(v);
	u->positions = tfs_col_positions(v);
	u->pieces = o.pieces < 1 ? 1 : o.pieces > MAX_PIECES ? MAX_PIECES : o.pieces;
	u->random = o.shuffle;
	for (int i = 0; i < u->pieces; i++)
		u->order[i] = (size_t)i;
	if (o.shuffle)
		shuffle(&u->random, u->order, (size_t)u->pieces);
	w = round_up((size_t)u->kg * u->rows);
	col = round_up(u->rows * u->positions);
	y = round_up((size_t)u->kg * u->positions);
	u->w = aligned_alloc(64, (w + col + y + round_up(sum)) * sizeof(float));
	if (!u->w)
		return -1;
	u->col = u->w + w;
	u->y = u->col + col;
	u->sum = u->y + y;
	return 0;
}

/* The part of a dimension that piece i of the summation covers. */
static void piece(const struct unit *u, int i, size_t extent, size_t *from, size_t *count)
{
	size_t p = u->order[i];
	size_t n = (size_t)u->pieces;

	*from = extent * p / n;
	*count = extent * (p + 1) / n - *from;
}

/* Keeps 10 bits of the fraction, to nearest. */
static void round_tf32(const struct unit *u, float *p, size_t count)
{
	if (!u->v->tf32)
		return;
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;

		memcpy(&bits, &p[i], sizeof(bits));
		if ((bits & 0x7f800000u) != 0x7f800000u)
			bits = (bits + 0x0fffu + (bits >> 13 & 1)) & ~0x1fffu;
		memcpy(&p[i], &bits, sizeof(bits));
	}
}

static void pack_filter(const struct unit *u, bool reversed, const float *w)
{
	for (size_t r = 0; r < u->rows; r++) {
		const float *from = w + tfs_col_tap(u->v, reversed, r);

		for (int k = 0; k < u->kg; k++)
			u->w[(size_t)k * u->rows + r] = from[k * u->v->ws[0]];
	}
	round_tf32(u, u->w, (size_t)u->kg * u->rows);
}

static void pack_output(const struct unit *u, const float *y)
{
	const struct tfs_conv *v = u->v;
	float *to = u->y;

	for (int k = 0; k < u->kg; k++)
		for (int d = 0; d < v->out[0]; d++)
			for (int h = 0; h < v->out[1]; h++, to += v->out[2]) {
				const float *from = y + k * v->ys[1] + d * v->ys[2] + h * v->ys[3];

				for (int i = 0; i < v->out[2]; i++)
					to[i] = from[i * v->ys[4]];
			}
	round_tf32(u, u->y, (size_t)u->kg * u->positions);
}

static void pack_column(const struct unit *u, bool reversed, const float *x)
{
	tfs_col_fill(u->v, reversed, x, u->col);
	round_tf32(u, u->col, u->rows * u->positions);
}

static void store_line(struct tfs_blend s, int n, const float *from, ptrdiff_t step, float *to)
{
	if (s.beta == 0.0f)
		for (int i = 0; i < n; i++)
			to[i * step] = s.alpha * from[i];
	else
		for (int i = 0; i < n; i++)
			to[i * step] = s.alpha * from[i] + s.beta * to[i * step];
}

static void fuse_line(const struct tfs_conv_fuse *f, struct tfs_blend s, int n, const float *from,
	float bias, const float *z, ptrdiff_t zstep, ptrdiff_t step, float *to)
{
	for (int i = 0; i < n; i++) {
		float t = s.alpha * from[i] + bias;

		if (f->alpha2 != 0.0f)
			t += f->alpha2 * z[i * zstep];
		to[i * step] = tfs_act_apply(f->act, t);
	}
}

static void store_output(const struct unit *u, struct tfs_blend s, int image, int first_k, float *y,
	const struct tfs_conv_fuse *f)
{
	const struct tfs_conv *v = u->v;
	const float *from = u->y;

	for (int k = first_k; k < first_k + u->kg; k++)
		for (int d = 0; d < v->out[0]; d++)
			for (int h = 0; h < v->out[1]; h++, from += v->out[2]) {
				float *to = y + image * v->ys[0] + k * v->ys[1] + d * v->ys[2] +
					    h * v->ys[3];

				if (f)
					fuse_line(f, s, v->out[2], from, f->bias[k * f->bias_step],
						f->z + image * f->zs[0] + k * f->zs[1] +
							d * f->zs[2] + h * f->zs[3],
						f->zs[4], v->ys[4], to);
				else
					store_line(s, v->out[2], from, v->ys[4], to);
			}
}

int tfs_conv_forward(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *x, const float *w, float *y, const struct tfs_conv_fuse *fuse)
{
	struct unit u;

	if (unit_init(&u, v, o, 0))
		return -1;
	for (int g = 0; g < v->groups; g++) {
		pack_filter(&u, o.reversed, w + g * u.kg * v->ws[0]);
		for (int n = 0; n < v->n; n++) {
			pack_column(&u, o.reversed, x + n * v->xs[0] + g * u.cg * v->xs[1]);
			for (int i = 0; i < u.pieces; i++) {
				size_t from, count;

				piece(&u, i, u.rows, &from, &count);
				cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, u.kg,
					(int)u.positions, (int)count, 1.0f, u.w + from, (int)u.rows,
					u.col + from * u.positions, (int)u.positions,
					i ? 1.0f : 0.0f, u.y, (int)u.positions);
			}
			store_output(&u, s, n, g * u.kg, y, fuse);
		}
	}
	free(u.w);
	return 0;
}

static void store_image(const struct unit *u, struct tfs_blend s, float *dx)
{
	const struct tfs_conv *v = u->v;
	const float *from = u->sum;

	for (int c = 0; c < u->cg; c++)
		for (int d = 0; d < v->in[0]; d++)
			for (int h = 0; h < v->in[1]; h++, from += v->in[2])
				store_line(s, v->in[2], from, v->xs[4],
					dx + c * v->xs[1] + d * v->xs[2] + h * v->xs[3]);
}

int tfs_conv_grad_data(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *w, const float *dy, float *dx)
{
	size_t image =
		(size_t)(v->c / v->groups) * (size_t)v->in[0] * (size_t)v->in[1] * (size_t)v->in[2];
	struct unit u;

	if (unit_init(&u, v, o, image))
		return -1;
	for (int g = 0; g < v->groups; g++) {
		pack_filter(&u, false, w + g * u.kg * v->ws[0]);
		for (int n = 0; n < v->n; n++) {
			size_t first = o.shuffle    ? draw(&u.random) % u.rows
				       : o.reversed ? u.rows / (size_t)(2 * u.cg)
						    : 0;

			pack_output(&u, dy + n * v->ys[0] + g * u.kg * v->ys[1]);
			for (int i = 0; i < u.pieces; i++) {
				size_t from, count;

				piece(&u, i, (size_t)u.kg, &from, &count);
				cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)u.rows,
					(int)u.positions, (int)count, 1.0f, u.w + from * u.rows,
					(int)u.rows, u.y + from * u.positions, (int)u.positions,
					i ? 1.0f : 0.0f, u.col, (int)u.positions);
			}
			memset(u.sum, 0, image * sizeof(float));
			tfs_col_scatter(v, first, u.col, u.sum);
			store_image(&u, s, dx + n * v->xs[0] + g * u.cg * v->xs[1]);
		}
	}
	free(u.w);
	return 0;
}

static void store_filter(const struct unit *u, struct tfs_blend s, float *dw)
{
	for (size_t r = 0; r < u->rows; r++)
		for (int k = 0; k < u->kg; k++)
			store_line(s, 1, u->sum + (size_t)k * u->rows + r, 1,
				dw + k * u->v->ws[0] + tfs_col_tap(u->v, false, r));
}

/* Adds one image's share of the filter gradient to the sum. */
static void add_image(const struct unit *u, bool first)
{
	for (int i = 0; i < u->pieces; i++) {
		size_t from, count;

		piece(u, i, u->positions, &from, &count);
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, u->kg, (int)u->rows,
			(int)count, 1.0f, u->y + from, (int)u->positions, u->col + from,
			(int)u->positions, first && i == 0 ? 0.0f : 1.0f, u->sum, (int)u->rows);
	}
}

int tfs_conv_grad_filter(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *x, const float *dy, float *dw)
{
	size_t *images = malloc((size_t)v->n * sizeof(*images));
	struct unit u;

	if (!images || unit_init(&u, v, o, tfs_col_rows(v) * (size_t)(v->k / v->groups))) {
		free(images);
		return -1;
	}
	for (int n = 0; n < v->n; n++)
		images[n] = (size_t)(o.reversed ? v->n - 1 - n : n);
	if (o.shuffle)
		shuffle(&u.random, images, (size_t)v->n);
	for (int g = 0; g < v->groups; g++) {
		for (int i = 0; i < v->n; i++) {
			ptrdiff_t n = (ptrdiff_t)images[i];

			pack_column(&u, false, x + n * v->xs[0] + g * u.cg * v->xs[1]);
			pack_output(&u, dy + n * v->ys[0] + g * u.kg * v->ys[1]);
			add_image(&u, i == 0);
		}
		store_filter(&u, s, dw + g * u.kg * v->ws[0]);
	}
	free(u.w);
	free(images);
	return 0;
}

void tfs_conv_grad_bias(struct tfs_blend s, const struct tfs_view *dyv, const float *dy,
	ptrdiff_t db_step, float *db)
{
	int channels = dyv->dim[1];
	struct tfs_view one = *dyv;

	one.dim[1] = 1;
	for (int c = 0; c < channels; c++) {
		float sum = tfs_math_sum(&one, dy + (ptrdiff_t)c * dyv->stride[1]);

		store_line(s, 1, &sum, 1, db + c * db_step);
	}
}
