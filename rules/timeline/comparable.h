/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_COMPARABLE_H
#define TFS_RULES_TIMELINE_COMPARABLE_H

/*
 * Whether what the hooks recorded can be held against what CUPTI did: only where nothing was lost
 * on either side does a difference mean anything.
 */

#include "rules/support/arena.h"
#include "rules/timeline/timeline.h"

/* Why records may be missing on one side; NULL = none are. The text is the arena's. */
const char *tfs_comparable_lost(const struct tfs_trace *trace, struct tfs_arena *arena);

/* Why calls cannot be compared; NULL = they can. The text is the arena's. */
const char *tfs_comparable_why_not(const struct tfs_timeline *timeline, struct tfs_arena *arena);

#endif
