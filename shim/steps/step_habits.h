/* SPDX-License-Identifier: MIT */
/*
 * Where steps are left. A callsite outside the loop that was called from behind each of several
 * steps in a row is a habit of the program's (an evaluation after each step, a log), and part of
 * its step. All of an evaluation's callsites become habits with the same step, so that the end of a
 * step does not move from one of them to the next.
 *
 * For the thread that has the steps; no locks.
 */
#ifndef TFSHIM_STEP_HABITS_H
#define TFSHIM_STEP_HABITS_H

#include <stdbool.h>
#include <stdint.h>

#define TFS_HABIT_STEPS 8u /* in a row */

/* A call from `site` after the end of `step` (from 1). A full table forgets who was not seen after
 * this step or the one before it. */
void tfs_step_habits_note(uint32_t site, uint64_t step);

bool tfs_step_habits_has(uint32_t site);

void tfs_step_habits_forget(void);

#endif
