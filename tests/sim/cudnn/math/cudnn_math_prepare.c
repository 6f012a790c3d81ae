/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math_col.h"
#include "tests/sim/cudnn/math/cudnn_math_unit.h"

void tfs_conv_rows(const struct tfs_conv *v, bool reversed, int32_t *out_rows)
{
	size_t rows = tfs_col_rows(v);

	for (size_t r = 0; r < rows; r++)
		out_rows[r] = (int32_t)(reversed ? rows - 1 - r : r);
}

static void pack(const struct tfs_unit *u, const struct tfs_conv_space *to, const float *x,
	const float *w, const float *dy)
{
	size_t filter = (size_t)u->kg * u->rows, output = (size_t)u->kg * u->positions;

	if (to->column && x)
		tfs_unit_pack_column(u, 0, 0, x, to->column);
	for (int g = 0; to->filter && w && g < u->v->groups; g++)
		tfs_unit_pack_filter(u, g, w, to->filter + (size_t)g * filter);
	for (int n = 0; to->output && dy && n < u->v->n; n++)
		for (int g = 0; g < u->v->groups; g++)
			tfs_unit_pack_output(
				u, n, g, dy, to->output + (size_t)(n * u->v->groups + g) * output);
}

int tfs_conv_prepare(
	const struct tfs_conv *v, bool reversed, const float *x, const float *w, const float *dy)
{
	const struct tfs_conv_space *to = &v->space;
	struct tfs_conv plain = *v;
	struct tfs_unit u;
	int err;

	if (to->rows) {
		tfs_conv_rows(v, reversed, to->rows);
		for (size_t i = 0; i < tfs_col_positions(v); i++)
			to->positions[i] = (int32_t)i;
	}
	if (!to->column && !to->filter && !to->output)
		return 0;
	plain.space = (struct tfs_conv_space){.rows = NULL};
	err = tfs_unit_init(&u, &plain, (struct tfs_sum_order){false, 1, 0}, reversed, 0);
	if (!err)
		pack(&u, to, x, w, dy);
	tfs_unit_finish(&u);
	return err;
}
