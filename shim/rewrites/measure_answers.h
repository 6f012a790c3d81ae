/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_ANSWERS_H
#define TFS_SHIM_REWRITES_MEASURE_ANSWERS_H

/*
 * What the measurement (measure.h) has found out about each rewrite, in this run and in earlier
 * ones; numbers are those of rewrite.c's list. The step's own thread writes, any thread may read.
 */

#include "shim/rewrites/measure.h"
#include "shim/rewrites/measure/verdict.h"

/* Forgets everything; at start, before other threads. */
void tfs_answers_clear(void);

/* What an earlier run found; at start. */
void tfs_answers_take(uint32_t i, const struct tfs_proof *verdict);

/* Pairs of a question that is still open, and their gains per step, in ns (TFS_TRIAL_PAIRS of
 * them); 0 = it was not begun. The step's own thread. */
uint32_t tfs_answers_begun(uint32_t i, double *out_gains);

/* The steps' period, as of the open questions of `asked` that were begun with steps that take about
 * `step_ns`; 0 = there are none. Those begun with other steps begin anew. The step's own thread. */
uint32_t tfs_answers_resume(uint32_t asked, double step_ns);

/* The state of the trial of rewrite `i`, whose name and gain are set here; `gain`: NULL = nothing
 * new. The step's own thread. */
void tfs_answers_note(uint32_t i, const struct tfs_proof *state, const struct tfs_gain *gain);

/* Steps take this, and move so many bytes, after the decisions of this run: the next run compares
 * its own with these. The step's own thread. */
void tfs_answers_usual(double step_ns, double step_bytes);

/* All questions are open again, since the steps have changed. The step's own thread. */
void tfs_answers_reopen(void);

/* What is known of rewrite `i` where one rank is measured; false = nothing. Any thread, one at a
 * time. */
bool tfs_answers_result(uint32_t i, struct tfs_measured *out_measured);

/* What a verdict of several ranks says. */
void tfs_answers_of_ranks(const struct tfs_proof *verdict, struct tfs_measured *out_measured);

#endif
