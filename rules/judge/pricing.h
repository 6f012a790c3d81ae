/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_PRICING_H
#define TFS_RULES_JUDGE_PRICING_H

/*
 * After the rules: findings that share a cost become groups, costs come from the replay, levels
 * from costs.
 */

#include "rules/evidence/findings.h"
#include "rules/judge/judge.h"

/* "replay": how a cost was found, in words. */
const char *tfs_cost_method_name(enum tfs_cost_method method);

/* Groups, prices and levels all drafts; 0 or -ENOMEM. Group numbers are given by cost. */
int tfs_findings_price(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_group **out_groups, size_t *out_count);

/* By recoverable time, then by level. */
void tfs_findings_rank(struct tfs_findings *findings);

#endif
