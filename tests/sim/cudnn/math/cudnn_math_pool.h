/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_MATH_POOL_H
#define TFS_TESTS_SIM_CUDNN_MATH_POOL_H

/*
 * Pooling over up to three spatial dimensions. Padding never wins a maximum; averages count it or
 * not.
 */

#include "tests/sim/cudnn/math/cudnn_math.h"

enum tfs_pool_mode { TFS_POOL_MAX, TFS_POOL_MEAN_PADDED, TFS_POOL_MEAN };

struct tfs_pool {
	enum tfs_pool_mode mode;
	bool propagate_nan;
	int n, c;
	int in[3], out[3], win[3], pad[3], stride[3];
	ptrdiff_t xs[5], ys[5], dxs[5], dys[5]; /* batch, channel, depth, height, width */
};

/* y = alpha * pool(x) + beta * y. Returns -1 without memory. */
int tfs_math_pool(const struct tfs_pool *p, struct tfs_blend s, const float *x, float *y);

/*
 * dx = alpha * gradient + beta * dx; a maximum's gradient goes to its first place in x. The
 * windows are visited in an order that begins at first, which decides the rounding where they
 * overlap. Returns -1 without memory.
 */
int tfs_math_pool_grad(const struct tfs_pool *p, struct tfs_blend s, uint64_t first, const float *x,
	const float *dy, float *dx);

#endif
