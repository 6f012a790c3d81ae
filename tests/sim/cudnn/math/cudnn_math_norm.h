/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_MATH_NORM_H
#define TFS_TESTS_SIM_CUDNN_MATH_NORM_H

/*
 * Batch normalization. Per activation every position of a channel has its own statistics, else the
 * whole channel has one. A parameter array has one packed element for each statistic.
 */

#include "tests/sim/cudnn/math/cudnn_math.h"

struct tfs_norm {
	bool per_activation;
	struct tfs_view xv, yv, dxv, dyv;
	double epsilon;
	struct tfs_blend data;  /* y or dx */
	struct tfs_blend param; /* dscale and dbias */
};

/* The number of statistics of a view. */
size_t tfs_norm_params(bool per_activation, const struct tfs_view *xv);

/* What a training step leaves besides y; NULL for what is not wanted. */
struct tfs_norm_stats {
	double factor;
	float *running_mean, *running_variance; /* new * factor + old * (1 - factor) */
	float *saved_mean, *saved_inverse;
};

/* y from the batch's own statistics. */
void tfs_norm_train(const struct tfs_norm *n, const float *x, const float *scale, const float *bias,
	const struct tfs_norm_stats *stats, float *y);

/* y from given statistics. */
void tfs_norm_infer(const struct tfs_norm *n, const float *x, const float *scale, const float *bias,
	const float *mean, const float *variance, float *y);

/* dx, dscale and dbias; the saved statistics may be NULL together. */
void tfs_norm_grad(const struct tfs_norm *n, const float *x, const float *dy, const float *scale,
	const float *saved_mean, const float *saved_inverse, float *dx, float *dscale,
	float *dbias);

#endif
