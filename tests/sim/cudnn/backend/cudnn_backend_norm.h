/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_BACKEND_NORM_H
#define TFS_TESTS_SIM_CUDNN_BACKEND_NORM_H

/* What a graph's normalisations share: over which elements a statistic is taken. */

#include "tests/sim/cudnn/backend/cudnn_backend.h"

struct tfs_norm_shape {
	int mode;
	struct tfs_view x;
	struct tfs_view stat;        /* packed; an element per statistic */
	struct tfs_view param;       /* packed; an element per scale */
	size_t stats, params, count; /* count: elements behind a statistic */
};

/* From x, the scale and, when it has a rank, the tensor of means or inverse variances. */
struct tfs_norm_shape tfs_norm_shape_of(int mode, const struct tfs_view *x,
	const struct tfs_view *scale, const struct tfs_view *stat);
/* NULL, or what is wrong with it. */
const char *tfs_norm_shape_wrong(const struct tfs_norm_shape *s);

/* Whether only the root of the mean square is divided by. */
bool tfs_norm_has_mean(int mode);

/* Mean and inverse deviation of every statistic; the variance, too, unless it is NULL. */
void tfs_norm_measure(const struct tfs_norm_shape *s, double epsilon, const float *x, double *mean,
	double *inverse, double *variance);

#endif
