/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_conv.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn/math/cudnn_math_col.h"
#include "tests/sim/cudnn/math/cudnn_math_unit.h"

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

static void store_output(const struct tfs_unit *u, struct tfs_blend s, int image, int first_k,
	float *y, const struct tfs_conv_fuse *f)
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

static void multiply_forward(const struct tfs_unit *u)
{
	for (int i = 0; i < u->pieces; i++) {
		size_t from, count;

		tfs_unit_piece(u, i, u->rows, &from, &count);
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, u->kg, (int)u->positions,
			(int)count, 1.0f, u->w + from, (int)u->rows, u->col + from * u->positions,
			(int)u->positions, i ? 1.0f : 0.0f, u->y, (int)u->positions);
	}
}

int tfs_conv_forward(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *x, const float *w, float *y, const struct tfs_conv_fuse *fuse)
{
	struct tfs_unit u;
	int err = tfs_unit_init(&u, v, o, o.reversed, 0);

	for (int g = 0; !err && g < v->groups; g++) {
		tfs_unit_take_filter(&u, g, w);
		for (int n = 0; !err && n < v->n; n++) {
			tfs_unit_take_column(&u, n, g, x);
			tfs_unit_begin_product(&u, n, g);
			multiply_forward(&u);
			err = tfs_unit_end_product(&u);
			store_output(&u, s, n, g * u.kg, y, fuse);
		}
	}
	tfs_unit_finish(&u);
	return err;
}

static void store_image(const struct tfs_unit *u, struct tfs_blend s, float *dx)
{
	const struct tfs_conv *v = u->v;
	const float *from = u->sum;

	for (int c = 0; c < u->cg; c++)
		for (int d = 0; d < v->in[0]; d++)
			for (int h = 0; h < v->in[1]; h++, from += v->in[2])
				store_line(s, v->in[2], from, v->xs[4],
					dx + c * v->xs[1] + d * v->xs[2] + h * v->xs[3]);
}

static void multiply_data(const struct tfs_unit *u)
{
	for (int i = 0; i < u->pieces; i++) {
		size_t from, count;

		tfs_unit_piece(u, i, (size_t)u->kg, &from, &count);
		cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)u->rows,
			(int)u->positions, (int)count, 1.0f, u->w + from * u->rows, (int)u->rows,
			u->y + from * u->positions, (int)u->positions, i ? 1.0f : 0.0f, u->col,
			(int)u->positions);
	}
}

int tfs_conv_grad_data(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *w, const float *dy, float *dx)
{
	size_t image =
		(size_t)(v->c / v->groups) * (size_t)v->in[0] * (size_t)v->in[1] * (size_t)v->in[2];
	struct tfs_unit u;
	int err = tfs_unit_init(&u, v, o, false, image);

	for (int g = 0; !err && g < v->groups; g++) {
		tfs_unit_take_filter(&u, g, w);
		for (int n = 0; !err && n < v->n; n++) {
			size_t first = o.shuffle    ? tfs_unit_draw(&u.random) % u.rows
				       : o.reversed ? u.rows / (size_t)(2 * u.cg)
						    : 0;

			err = tfs_unit_take_output(&u, n, g, dy);
			multiply_data(&u);
			memset(u.sum, 0, image * sizeof(float));
			tfs_col_scatter(v, first, u.col, u.sum);
			store_image(&u, s, dx + n * v->xs[0] + g * u.cg * v->xs[1]);
		}
	}
	tfs_unit_finish(&u);
	return err;
}

static void store_filter(const struct tfs_unit *u, struct tfs_blend s, const float *sum, float *dw)
{
	for (size_t r = 0; r < u->rows; r++)
		for (int k = 0; k < u->kg; k++)
			store_line(s, 1, sum + (size_t)k * u->rows + r, 1,
				dw + k * u->v->ws[0] + tfs_col_tap(u->v, (size_t)u->row[r]));
}

/* Adds one image's share of the filter gradient to a sum. */
static void add_image(const struct tfs_unit *u, bool first, float *sum)
{
	for (int i = 0; i < u->pieces; i++) {
		size_t from, count;

		tfs_unit_piece(u, i, u->positions, &from, &count);
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, u->kg, (int)u->rows,
			(int)count, 1.0f, u->y + from, (int)u->positions, u->col + from,
			(int)u->positions, first && i == 0 ? 0.0f : 1.0f, sum, (int)u->rows);
	}
}

/* The images' shares go to the parts in turn, and those are added up at the end. */
static int add_images(struct tfs_unit *u, int g, const size_t *images, const float *x,
	const float *dy, float *sum)
{
	const struct tfs_conv *v = u->v;
	int parts = v->space.sums ? v->space.parts : 1;
	size_t one = (size_t)u->kg * u->rows, all = one * (size_t)v->groups;
	int err = 0;

	for (int i = 0; !err && i < v->n; i++) {
		tfs_unit_pack_column(u, (int)images[i], g, x, u->col);
		err = tfs_unit_take_output(u, (int)images[i], g, dy);
		add_image(u, i < parts, sum + all * (size_t)(i % parts));
	}
	for (int part = 1; part < parts; part++)
		for (size_t i = 0; i < one; i++)
			sum[i] += sum[all * (size_t)part + i];
	return err;
}

int tfs_conv_grad_filter(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *x, const float *dy, float *dw)
{
	size_t *images = malloc((size_t)v->n * sizeof(*images));
	size_t one = tfs_col_rows(v) * (size_t)(v->k / v->groups);
	struct tfs_unit u;
	int err;

	if (!images)
		return -1;
	err = tfs_unit_init(&u, v, o, false, one);
	for (int n = 0; n < v->n; n++)
		images[n] = (size_t)(o.reversed ? v->n - 1 - n : n);
	if (o.shuffle)
		tfs_unit_shuffle(&u.random, images, (size_t)v->n);
	for (int g = 0; !err && g < v->groups; g++) {
		float *sum = u.sum + (v->space.sums ? one * (size_t)g : 0);

		err = add_images(&u, g, images, x, dy, sum);
		store_filter(&u, s, sum, dw + g * u.kg * v->ws[0]);
	}
	tfs_unit_finish(&u);
	free(images);
	return err;
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
