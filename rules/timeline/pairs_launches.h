/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_PAIRS_LAUNCHES_H
#define TFS_RULES_TIMELINE_PAIRS_LAUNCHES_H

/* The launches that the hooks saw against the kernels that have a record. */

#include "rules/timeline/pairs.h"
#include "rules/timeline/timeline.h"

/* The window with both calls and activity that a moment lies in, or NULL. */
const struct tfs_window *tfs_pairs_window(const struct tfs_timeline *timeline, uint64_t ns);

/* Adds to `launches`, `launched` and `queued`. */
void tfs_pairs_launches(const struct tfs_timeline *timeline, struct tfs_pairs *out);

#endif
