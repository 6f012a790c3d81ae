/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_IDLE_H
#define TFS_RULES_JUDGE_IDLE_H

/*
 * Who held a judged step up while its GPU was idle: each idle nanosecond has an owner, and owners
 * that findings are about are told from those that no rule speaks of.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/rule.h"
#include "rules/support/arena.h"
#include "rules/timeline/timeline.h"

/* Calls of one function at one call site, in one way of holding the GPU up (timeline_parts.h). */
struct tfs_idle_owner {
	enum tfs_idle_why why;
	uint32_t site;       /* 0 = the time has no call: TFS_IDLE_QUEUED, TFS_IDLE_UNKNOWN */
	uint16_t function;   /* likewise */
	bool explained;      /* a finding is about these calls */
	double ns;           /* per judged step, mean of the devices that worked */
	const char *samples; /* what the host's thread did meanwhile; NULL = not known */
	struct tfs_code_samples code; /* and where it ran */
};

struct tfs_idle_summary {
	struct tfs_idle_owner *items; /* the most time first */
	size_t count;                 /* 0 = no judged step has device activity */
	double ns;                    /* of all of them */
	double explained_ns;
};

/* Fills `out_idle` with the arena's memory; 0 or -ENOMEM. `owned` tells for each of the timeline's
 * idles whether a finding is about it; NULL: none is. */
int tfs_idle_find(const struct tfs_timeline *timeline, const struct tfs_finding *findings,
	size_t finding_count, const bool *owned, struct tfs_arena *arena,
	struct tfs_idle_summary *out_idle);

#endif
