/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_MOVE_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_MOVE_H

/* How a copy goes through a ring that the caller has taken, and what that costs against the
 * program's own way, by direction and size. In the program's thread. */

#include "shim/rewrites/pinned_staging/pinned_staging_ring.h"

#define TFS_STAGING_LEAST TFS_PIECE_BYTES    /* smallest chunk of a copy that has several */
#define TFS_STAGING_MANY (UINT64_C(1) << 20) /* from here on a copy is worth several threads */

/* Mutants: what the contract forbids, so that its tests are seen to bite. */
#define TFS_STAGING_NAIVE_LATE 1u          /* returns before the source was read */
#define TFS_STAGING_NAIVE_CAPTURE 2u       /* works while a stream is being captured */
#define TFS_STAGING_NAIVE_SLOW 32u         /* wastes time: loses when measured */
#define TFS_STAGING_NAIVE_WRONG 64u        /* changes a byte: shadow mode must see it */
#define TFS_STAGING_NAIVE_MODEL (1u << 23) /* wastes time where its own model sees it */
#define TFS_STAGING_NAIVE_ERROR (1u << 24) /* takes errors that wait for the program */
#define TFS_STAGING_NAIVE_AGAIN (1u << 25) /* skips bytes that were sent there before */

/* A copy whose direction is known. */
struct tfs_staging_job {
	const struct tfs_op *op;
	void *stream;      /* explicit */
	bool out;          /* to the host */
	uint64_t begun_ns; /* the monotonic clock's */
};

/* Carries out as much of the copy as it can without waiting where the program's own call would not,
 * and without a fault: *out_done bytes from its start on; the rest is for the program's own call.
 * Returns the status that the program gets. The program's end is the program's again. */
int tfs_staging_move(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, size_t *out_done);

/* The program's own call, for what is behind the first `done` bytes. */
int tfs_staging_call(const struct tfs_op *op, size_t done);

/* Now and then a copy goes the program's own way, to learn the rate of that: true when this one
 * did. Without a ring: it may fault. */
bool tfs_staging_sample(const struct tfs_staging_device *device, const struct tfs_staging_job *job,
	uint32_t *out_status);

/* Has staging not been slower so far, for copies of this direction and size? True while too few
 * were seen. */
bool tfs_staging_is_faster(const struct tfs_staging_job *job);

/* What the latest copy through this ring is thought to have gained, in nanoseconds; NaN while too
 * little is known. */
double tfs_staging_gain(const struct tfs_staging_job *job, const struct tfs_staging_ring *ring);

#endif
