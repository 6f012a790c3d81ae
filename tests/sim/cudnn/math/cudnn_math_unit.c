/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_unit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn/math/cudnn_math_col.h"

uint64_t tfs_unit_draw(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x >> 11;
}

void tfs_unit_shuffle(uint64_t *state, size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = tfs_unit_draw(state) % i;
		size_t t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

void tfs_unit_piece(
	const struct tfs_unit *u, int i, size_t extent, size_t *out_from, size_t *out_count)
{
	size_t p = u->order[i];
	size_t n = (size_t)u->pieces;

	*out_from = extent * p / n;
	*out_count = extent * (p + 1) / n - *out_from;
}

static size_t round_up(size_t floats)
{
	return (floats + 15) / 16 * 16;
}

/* Whatever is not given is the unit's own. */
static int own_matrices(struct tfs_unit *u, size_t sum)
{
	const struct tfs_conv_space *given = &u->v->space;
	size_t w = given->filter ? 0 : round_up((size_t)u->kg * u->rows);
	size_t col = given->column ? 0 : round_up(u->rows * u->positions);
	size_t y = round_up((size_t)u->kg * u->positions);
	size_t sums = given->sums ? 0 : round_up(sum);
	size_t tables = round_up(u->rows + u->positions);
	float *own = aligned_alloc(64, (w + col + y + sums + tables) * sizeof(float));

	if (!own)
		return -1;
	u->own = own;
	u->w = given->filter ? given->filter : own;
	u->col = given->column ? given->column : own + w;
	u->y = u->own_y = own + w + col;
	u->sum = given->sums ? given->sums : u->y + y;
	u->row = (int32_t *)(void *)(u->own_y + y + sums);
	u->position = u->row + u->rows;
	return 0;
}

static bool in_range(const int32_t *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (table[i] < 0 || (size_t)table[i] >= n)
			return false;
	return true;
}

static bool in_order(const int32_t *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((size_t)table[i] != i)
			return false;
	return true;
}

/* Given ones are copied first: whoever shares the space may write while they are read. */
static int take_tables(struct tfs_unit *u, bool reversed)
{
	const struct tfs_conv_space *given = &u->v->space;

	if (!given->rows) {
		tfs_conv_rows(u->v, reversed, u->row);
		u->position = NULL;
		return 0;
	}
	memcpy(u->row, given->rows, u->rows * sizeof(*u->row));
	memcpy(u->position, given->positions, u->positions * sizeof(*u->position));
	if (!in_range(u->row, u->rows) || !in_range(u->position, u->positions))
		return TFS_CONV_WILD;
	if (in_order(u->position, u->positions))
		u->position = NULL;
	return 0;
}

int tfs_unit_init(struct tfs_unit *u, const struct tfs_conv *v, struct tfs_sum_order o,
	bool reversed, size_t sum)
{
	int err;

	memset(u, 0, sizeof(*u));
	u->v = v;
	u->cg = v->c / v->groups;
	u->kg = v->k / v->groups;
	u->rows = tfs_col_rows(v);
	u->positions = tfs_col_positions(v);
	u->pieces = o.pieces < 1 ? 1 : o.pieces > TFS_UNIT_PIECES ? TFS_UNIT_PIECES : o.pieces;
	u->random = o.shuffle;
	for (int i = 0; i < u->pieces; i++)
		u->order[i] = (size_t)i;
	if (o.shuffle)
		tfs_unit_shuffle(&u->random, u->order, (size_t)u->pieces);
	err = own_matrices(u, sum);
	return err ? err : take_tables(u, reversed);
}

void tfs_unit_finish(struct tfs_unit *u)
{
	free(u->own);
}

/* Keeps 10 bits of the fraction, to nearest. */
static void round_tf32(const struct tfs_unit *u, float *p, size_t count)
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

void tfs_unit_pack_filter(const struct tfs_unit *u, int g, const float *w, float *to)
{
	w += g * u->kg * u->v->ws[0];
	for (size_t r = 0; r < u->rows; r++) {
		const float *from = w + tfs_col_tap(u->v, (size_t)u->row[r]);

		for (int k = 0; k < u->kg; k++)
			to[(size_t)k * u->rows + r] = from[k * u->v->ws[0]];
	}
	round_tf32(u, to, (size_t)u->kg * u->rows);
}

void tfs_unit_pack_output(const struct tfs_unit *u, int n, int g, const float *y, float *to)
{
	const struct tfs_conv *v = u->v;
	float *first = to;

	y += n * v->ys[0] + g * u->kg * v->ys[1];
	for (int k = 0; k < u->kg; k++)
		for (int d = 0; d < v->out[0]; d++)
			for (int h = 0; h < v->out[1]; h++, to += v->out[2]) {
				const float *from = y + k * v->ys[1] + d * v->ys[2] + h * v->ys[3];

				for (int i = 0; i < v->out[2]; i++)
					to[i] = from[i * v->ys[4]];
			}
	round_tf32(u, first, (size_t)u->kg * u->positions);
}

void tfs_unit_pack_column(const struct tfs_unit *u, int n, int g, const float *x, float *to)
{
	tfs_col_fill(u->v, u->row, x + n * u->v->xs[0] + g * u->cg * u->v->xs[1], to);
	round_tf32(u, to, u->rows * u->positions);
}

void tfs_unit_take_filter(struct tfs_unit *u, int g, const float *w)
{
	float *given = u->v->space.filter;

	if (given)
		u->w = given + (size_t)g * (size_t)u->kg * u->rows;
	else
		tfs_unit_pack_filter(u, g, w, u->w);
}

/* A given column matrix has room for one image, and the first one is in it. */
void tfs_unit_take_column(struct tfs_unit *u, int n, int g, const float *x)
{
	if (!u->v->space.column || n != 0 || g != 0)
		tfs_unit_pack_column(u, n, g, x, u->col);
}

/* Moves the columns of y to their positions, or fetches them from there. */
static int permute(struct tfs_unit *u, bool fetch)
{
	size_t count = (size_t)u->kg * u->positions;
	float *was;

	if (!u->position)
		return 0;
	was = malloc(count * sizeof(*was));
	if (!was)
		return -1;
	memcpy(was, u->y, count * sizeof(*was));
	for (size_t i = 0; i < count; i++) {
		size_t j = i % u->positions, there = i - j + (size_t)u->position[j];

		u->y[fetch ? i : there] = was[fetch ? there : i];
	}
	free(was);
	return 0;
}

void tfs_unit_begin_product(struct tfs_unit *u, int n, int g)
{
	float *given = u->v->space.output;

	if (given)
		u->y = given + ((size_t)n * (size_t)u->v->groups + (size_t)g) * (size_t)u->kg *
				       u->positions;
}

int tfs_unit_end_product(struct tfs_unit *u)
{
	return permute(u, false);
}

int tfs_unit_take_output(struct tfs_unit *u, int n, int g, const float *y)
{
	tfs_unit_begin_product(u, n, g);
	if (u->y != u->own_y)
		return 0;
	tfs_unit_pack_output(u, n, g, y, u->y);
	return permute(u, true);
}
