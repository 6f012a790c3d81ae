/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_IDLE_HOST_H
#define TFS_RULES_JUDGE_IDLE_HOST_H

/* What the host did where the GPU was idle and no rule speaks of it. */

#include "rules/judge/idle.h"
#include "rules/support/intervals.h"

/* Says so of the largest owners of such time, where there are samples enough. `judged` is the time
 * of the judged steps; `owned` as in tfs_idle_find(). 0 or -ENOMEM. */
int tfs_idle_sample(const struct tfs_timeline *timeline, const struct tfs_intervals *judged,
	const bool *owned, struct tfs_arena *arena, struct tfs_idle_summary *idle);

#endif
