/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_WINDOWS_H
#define TFS_SHIM_STEPS_WINDOWS_H

/*
 * Windows are the stretches of steps in which every call and all device activity is recorded; the
 * first opens with the first step that is known as one, later ones where placement.h says, and at
 * long intervals of time.
 * Rewrites are off in windows: findings judge the program as it was written.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/base/likely.h"

/* Called once the recording is open; opens the only window when everything is to be recorded. */
void tfs_windows_start(void);

/* Now and then, in the helper thread: CUPTI may come after a window was opened, which then begins
 * anew. */
void tfs_windows_activity(void);

/* Who wants CUPTI. */
enum tfs_left { TFS_LEFT_BY_OPTION, TFS_LEFT_BY_PROGRAM, TFS_LEFT_TO_TOOL };

/* Gives CUPTI back, to the tool named (NULL: none), which does not give it on: what an open window
 * records from now on is calls alone. True when it had been ours. Any thread; waits for a second at
 * most. */
bool tfs_windows_leave(enum tfs_left why, const char *tool);

/* Takes CUPTI again: a window with activity opens with the next step. False when that fails, which
 * the recording says. Any thread. */
bool tfs_windows_return(void);

/* A step begins: opens or closes a window if it is time. The step's own thread. */
void tfs_windows_step(uint64_t index);

/* The steps so far were none: the first window is still to come. The step's own thread. */
void tfs_windows_anew(void);

/* No step was found: rewrites need not wait for the first window. */
void tfs_windows_without_steps(void);

/* Is a window open? Any thread. */
bool tfs_windows_open(void);

/* May rewrites that can be switched take part now? Any thread; hot. */
extern _Atomic bool tfs_windows_rewriting TFS_OWN;
static inline bool tfs_windows_rewrites(void)
{
	return atomic_load_explicit(&tfs_windows_rewriting, memory_order_relaxed);
}

/* Flags of a step record for a step that begins now. */
uint32_t tfs_windows_step_flags(void);

/* At exit. */
void tfs_windows_finish(void);

#endif
