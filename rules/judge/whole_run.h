/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_WHOLE_RUN_H
#define TFS_RULES_JUDGE_WHOLE_RUN_H

/*
 * What rules about the training step can say of a recording whose steps are not known: they look at
 * the whole recorded run. What they find there may lie outside of any step, which is fine for some
 * rules only; that there is nothing at all holds for steps as well.
 */

#include "rules/evidence/findings.h"

/* The rule has judged the run, with findings from `before` on. Those of a rule that is about steps
 * alone are taken back: whether they are in a step is not known. */
void tfs_whole_run_settle(
	struct tfs_findings *findings, size_t before, struct tfs_verdict *out_verdict);

/* Calls that were counted, but not recorded: a sentence of the arena's with the call site behind
 * it; NULL = none. Of kinds that rules are about, only those in `about` (TFS_ABOUT_*) matter. */
const char *tfs_whole_run_unrecorded(
	const struct tfs_steady *run, uint32_t about, struct tfs_arena *arena, uint32_t *out_site);

#endif
