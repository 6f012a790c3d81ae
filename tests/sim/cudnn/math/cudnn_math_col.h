/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_MATH_COL_H
#define TFS_TESTS_SIM_CUDNN_MATH_COL_H

/*
 * The column matrix of a convolution: one row per (input channel of the group, filter tap), one
 * column per output position.
 */

#include "tests/sim/cudnn/math/cudnn_math_conv.h"

/* Rows of the column matrix of one group. */
size_t tfs_col_rows(const struct tfs_conv *v);

/* Output positions, the columns. */
size_t tfs_col_positions(const struct tfs_conv *v);

/* Writes the column matrix of one image and group, of these rows; x points at its first channel. */
void tfs_col_fill(const struct tfs_conv *v, const int32_t *row, const float *x, float *col);

/*
 * Adds a column matrix back onto a packed image of one group (channel, depth, height, width); the
 * taps of each channel in turn, beginning at number first and wrapping round.
 */
void tfs_col_scatter(const struct tfs_conv *v, size_t first, const float *col, float *image);

/* Offset of row r's filter element, without its output channel. */
ptrdiff_t tfs_col_tap(const struct tfs_conv *v, size_t r);

#endif
