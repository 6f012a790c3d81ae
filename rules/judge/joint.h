/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_JOINT_H
#define TFS_RULES_JUDGE_JOINT_H

/*
 * What all findings cost together, and what is left of that: the gains of rewrites that an A/B test
 * or a measured search proved, and what fixing the findings beside them still saves. Each is one
 * replay with all edits, never a sum.
 */

#include "rules/evidence/findings.h"
#include "rules/judge/judge.h"

/* Fills the rewrites' gains, `repaired` of the findings, `joint` and `open`; 0 or -ENOMEM. The
 * judgement has the findings, in the order of the drafts. Prices found later are of what is changed
 * beside the proven rewrites. */
int tfs_joint_find(const struct tfs_steady *steady, const struct tfs_findings *findings,
	struct tfs_judgement *judgement);

#endif
