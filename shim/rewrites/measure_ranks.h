/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_RANKS_H
#define TFS_SHIM_REWRITES_MEASURE_RANKS_H

/*
 * The measurement's part where there are several ranks (ranked.h): what an earlier run's verdicts
 * say, and who may act in a step. Numbers are those of rewrite.c's list. The step's own thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/measure/ranked.h"

/* Reads the file of verdicts, beside the recording; plans the blocks for those rewrites of
 * `switchable` that it does not decide. At start. */
void tfs_measure_ranks_start(uint32_t switchable);

/* What the file says of rewrite `i`; NULL = nothing, or nothing decided. */
const struct tfs_proof *tfs_measure_ranks_verdict(uint32_t i);

/* Rewrites to be on in a step. */
uint32_t tfs_measure_ranks_mask(uint64_t step);

/* Does a step lie behind the first block, so that the recordings say something? */
bool tfs_measure_ranks_begun(uint64_t step);

#endif
