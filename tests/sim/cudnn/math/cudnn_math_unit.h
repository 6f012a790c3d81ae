/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_MATH_UNIT_H
#define TFS_TESTS_SIM_CUDNN_MATH_UNIT_H

/*
 * One group of one image is the unit of work of a convolution: its sizes, the order of its sums,
 * and its operands packed as matrices. They lie in the space that the convolution was given, or in
 * memory of the unit's own.
 */

#include "tests/sim/cudnn/math/cudnn_math_conv.h"

enum { TFS_UNIT_PIECES = 8 };

struct tfs_unit {
	const struct tfs_conv *v;
	int cg, kg;
	size_t rows, positions;
	float *w;          /* kg x rows */
	float *col;        /* rows x positions */
	float *y;          /* kg x positions */
	float *sum;        /* as w, or one packed image */
	int32_t *row;      /* the filter element of each row, with its input channel */
	int32_t *position; /* where each column belongs; NULL: where it is */
	int pieces;
	size_t order[TFS_UNIT_PIECES];
	uint64_t random;
	float *own_y;
	void *own;
};

/* sum is the size of .sum in floats. 0, or what the functions of cudnn_math_conv.h return. */
int tfs_unit_init(struct tfs_unit *u, const struct tfs_conv *v, struct tfs_sum_order o,
	bool reversed, size_t sum);
void tfs_unit_finish(struct tfs_unit *u);

/* The next number of the order's weather. */
uint64_t tfs_unit_draw(uint64_t *state);
void tfs_unit_shuffle(uint64_t *state, size_t *order, size_t n);
/* The part of a dimension that piece i of the summation covers. */
void tfs_unit_piece(
	const struct tfs_unit *u, int i, size_t extent, size_t *out_from, size_t *out_count);

/* Packing, of the whole tensors' image n and group g. */
void tfs_unit_pack_filter(const struct tfs_unit *u, int g, const float *w, float *to);
void tfs_unit_pack_output(const struct tfs_unit *u, int n, int g, const float *y, float *to);
void tfs_unit_pack_column(const struct tfs_unit *u, int n, int g, const float *x, float *to);

/* The same for the unit's own matrices: packed now, or found in the given space. */
void tfs_unit_take_filter(struct tfs_unit *u, int g, const float *w);
void tfs_unit_take_column(struct tfs_unit *u, int n, int g, const float *x);
int tfs_unit_take_output(struct tfs_unit *u, int n, int g, const float *y);
/* Where the product of image n and group g goes; and, once it is there, its columns' order. */
void tfs_unit_begin_product(struct tfs_unit *u, int n, int g);
int tfs_unit_end_product(struct tfs_unit *u);

#endif
