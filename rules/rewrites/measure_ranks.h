/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_MEASURE_RANKS_H
#define TFS_RULES_REWRITES_MEASURE_RANKS_H

/*
 * The measurement's part where there are several ranks (ranked.h): what an earlier run's verdicts
 * say, and who may act in a step. Numbers are those of rewrite.c's list. The step's own thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/rewrites/ranked.h"

/* Reads the file of verdicts, beside the recording; plans the blocks for those rewrites of
 * `switchable` that it says nothing about. At start. */
void tfs_measure_ranks_start(uint32_t switchable);

/* What the file says of rewrite `i`; false = nothing. */
bool tfs_measure_ranks_verdict(uint32_t i, struct tfs_ranked_verdict *out_verdict);

/* Rewrites to be on in a step; `trusted` may be at other times. */
uint32_t tfs_measure_ranks_mask(uint64_t step, uint32_t trusted);

/* Does a step lie behind the first block, so that the recordings say something? */
bool tfs_measure_ranks_begun(uint64_t step);

#endif
