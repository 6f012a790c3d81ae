/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_MATH_CONV_H
#define TFS_TESTS_SIM_CUDNN_MATH_CONV_H

/*
 * Convolution as im2col and matrix products, up to three spatial dimensions. A summation order
 * makes the algorithms differ in their rounding as those of the real library do: equal orders give
 * equal bits, and a shuffled order is a new one on every call.
 */

#include "tests/sim/cudnn/math/cudnn_math.h"

/*
 * Where intermediate data lies. What is NULL is in memory of the call's own; what is not has been
 * filled by tfs_conv_prepare(), but for sums and for the output of a forward call, which the call
 * itself writes and reads.
 */
struct tfs_conv_space {
	int32_t *rows, *positions; /* numbers of the column matrix's rows and columns; or neither */
	float *filter;             /* every group's filter, packed */
	float *column;             /* one image's column matrix */
	float *output;             /* every image's output, packed */
	float *sums;               /* so many filters, which add up to the gradient */
	int parts;
};

/* Strides are those of batch or output channel, channel, depth, height, width. */
struct tfs_conv {
	int n, c, k, groups; /* c and k over all groups */
	int in[3], flt[3], out[3];
	int pad[3], stride[3], dil[3];
	bool flip; /* a true convolution: the filter runs backwards */
	bool tf32; /* operands lose the low 13 bits of their fraction */
	ptrdiff_t xs[5], ws[5], ys[5];
	struct tfs_conv_space space;
};

/* What the functions return when a table holds numbers that lead outside of the tensors. */
enum { TFS_CONV_WILD = -2 };

struct tfs_sum_order {
	bool reversed;
	int pieces;       /* the reduced dimension is cut into so many products; 0 is 1 */
	uint64_t shuffle; /* not 0: pieces in an order drawn from this */
};

/* What follows the sum in a fused forward call: + alpha2 * z + bias, then the activation. */
struct tfs_conv_fuse {
	const struct tfs_act *act;
	const float *bias; /* one per output channel */
	ptrdiff_t bias_step;
	const float *z;
	ptrdiff_t zs[5];
	float alpha2;
};

/* The numbers of the column matrix's rows: those of filter elements with their input channels. */
void tfs_conv_rows(const struct tfs_conv *v, bool reversed, int32_t *out_rows);

/*
 * Fills the space that v has: tables always, the filter from w, the column matrix of the first
 * image from x, the outputs from dy; what is NULL is not read.
 */
int tfs_conv_prepare(
	const struct tfs_conv *v, bool reversed, const float *x, const float *w, const float *dy);

/* y = alpha * conv(x, w) + beta * y, or the fused form when fuse is given. */
int tfs_conv_forward(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *x, const float *w, float *y, const struct tfs_conv_fuse *fuse);

/* dx = alpha * gradient + beta * dx. */
int tfs_conv_grad_data(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *w, const float *dy, float *dx);

/* dw = alpha * gradient + beta * dw. */
int tfs_conv_grad_filter(const struct tfs_conv *v, struct tfs_sum_order o, struct tfs_blend s,
	const float *x, const float *dy, float *dw);

/* db = alpha * (sum of dy over all but channels) + beta * db. */
void tfs_conv_grad_bias(struct tfs_blend s, const struct tfs_view *dyv, const float *dy,
	ptrdiff_t db_step, float *db);

#endif
