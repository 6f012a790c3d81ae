/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_RATES_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_RATES_H

/*
 * What copies cost, through a ring and the program's own way: by direction, by whether the call
 * waits, and by size. Of a call that does not wait, what counts is the host's time. Guesses, which
 * several threads may write at once.
 */

#include "shim/rewrites/pinned_staging/pinned_staging_move.h"

double tfs_staging_now(void); /* in nanoseconds, of the monotonic clock */

/* A copy took so long: through a ring, a pinned transfer of it, the program's own way. */
void tfs_staging_keep_staged(const struct tfs_staging_job *job, double ns);
void tfs_staging_keep_pinned(bool out, bool many, size_t bytes, double ns);
void tfs_staging_keep_pageable(const struct tfs_staging_job *job, double ns);

/* Are there too few such figures yet? */
bool tfs_staging_wants_pinned(const struct tfs_staging_job *job);
bool tfs_staging_wants_pageable(const struct tfs_staging_job *job);

#endif
