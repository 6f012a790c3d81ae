/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_LATER_H
#define TFS_RULES_JUDGE_LATER_H

/*
 * Habits that the judged steps do not show: the totals of the whole run, held against what the
 * judged steps, as often as there were training steps, explain. And findings that it contradicts.
 */

#include "rules/evidence/findings.h"
#include "rules/support/arena.h"

struct tfs_later;

/* Finds them; NULL without memory. The result is the arena's. */
const struct tfs_later *tfs_later_find(const struct tfs_steady *steady, struct tfs_arena *arena);

/* Takes back findings from `before` on whose calls the run made ten times more rarely than the
 * judged steps did, by their totals: these steps are not like the others. Where none is left, the
 * rule is not measurable, and the verdict says why. */
void tfs_later_contradict(
	struct tfs_findings *findings, size_t before, struct tfs_verdict *out_verdict);

/* A call site that made many more calls of these kinds (TFS_ABOUT_*) than is explained, as a
 * sentence of the arena's with the site behind it; NULL = none. Calls of phases that are known are
 * explained; what happens in at most every tenth step, or is a small part of such calls or of the
 * run, does not matter. */
const char *tfs_later_calls(const struct tfs_later *later, uint32_t about, uint32_t *out_site);

#endif
