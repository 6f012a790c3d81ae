/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_MIXED_H
#define TFS_RULES_EVIDENCE_MIXED_H

/*
 * Steps that hold the work of another phase as well, such as an evaluation behind the last step of
 * an epoch that nothing told apart: a few steps compute at call sites where most steps do not.
 * And steps that were cut: where a step opens in the middle of its loop, the last one before the
 * program does something else ends there, and does not compute where every other step does.
 * Neither is evidence of the steady state.
 */

#include "rules/timeline/timeline.h"

/* Clears the flags of mixed and of cut steps among those flagged as judged, unless they are the
 * rule; `count` is how many are flagged. Returns how many are left; without memory all of them. */
uint32_t tfs_mixed_remove(const struct tfs_timeline *timeline, bool *judged, uint32_t count);

#endif
