/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_SIGN_FLIP_H
#define TFS_SHIM_REWRITES_MEASURE_SIGN_FLIP_H

/*
 * Fisher's test by flipping signs: where the order within each pair was drawn by a coin and nothing
 * was gained, each difference might as well have had the other sign. Exact, but that differences
 * are rounded to 1/2048 of the sum of their sizes, which keeps what is said of chance true. Pure;
 * no allocation: the caller brings the room, which may be reused.
 */

#include <stdbool.h>
#include <stdint.h>

#define TFS_SIGN_FLIP_MOST 64u /* differences */
#define TFS_SIGN_FLIP_PARTS 2048u

struct tfs_sign_flip {
	double chance[TFS_SIGN_FLIP_PARTS + TFS_SIGN_FLIP_MOST];
};

/* How often chance alone makes the sum of `values`, each less by `shift`, as large, and as small.
 */
void tfs_sign_flip(const double *values, uint32_t count, double shift, struct tfs_sign_flip *room,
	double *out_large, double *out_small);

/* The values that the mean may truly have: those that the test does not rule out, at `level` on
 * each side. False when there are too few values. */
bool tfs_sign_flip_interval(const double *values, uint32_t count, double level,
	struct tfs_sign_flip *room, double *out_low, double *out_high);

#endif
