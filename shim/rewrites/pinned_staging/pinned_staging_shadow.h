/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_SHADOW_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_SHADOW_H

/*
 * Compares a copy through the ring with the program's own, which is done and is kept. What came to
 * the host is compared byte by byte. What went to the device is read back: all of it up to 1 MiB;
 * of longer copies the first and the last 64 KiB and 14 blocks between, other ones each time.
 */

#include "shim/rewrites/pinned_staging/pinned_staging_move.h"

struct tfs_staging_compared {
	size_t bytes; /* compared */
	size_t at;    /* the first that differed; the copy's length when none did */
	bool done;    /* false: the copy could not be made again, or not be read */
};

/* Does the copy again, aside, and compares. The ring is the caller's. */
void tfs_staging_compare(struct tfs_staging_ring *ring, const struct tfs_staging_job *job,
	struct tfs_staging_compared *out_compared);

#endif
