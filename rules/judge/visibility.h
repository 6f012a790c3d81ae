/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_VISIBILITY_H
#define TFS_RULES_JUDGE_VISIBILITY_H

/*
 * What the recording could see and what it could not, in words and as lists for the report.
 */

#include "rules/evidence/steady.h"
#include "rules/judge/judge.h"
#include "rules/support/arena.h"

/* Whether something ran that no layer of the recording saw. */
bool tfs_visibility_partial(const struct tfs_steady *steady);

/* What that was, separated by "; "; "" = nothing. The text is the arena's. */
const char *tfs_visibility_gaps(const struct tfs_steady *steady, struct tfs_arena *arena);

/* What to do about what ran unseen, by the causes that are known. The text is the arena's. */
const char *tfs_visibility_advice(const struct tfs_steady *steady, struct tfs_arena *arena);

/* Fills the visibility section. */
void tfs_visibility_describe(const struct tfs_steady *steady, struct tfs_arena *arena,
	struct tfs_visibility *out_visibility);

/* A library's name for people: "cuDNN"; "?" for none. Any thread. */
const char *tfs_library_title(uint32_t library);

#endif
