/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_STEPS_SEARCH_H
#define TFS_SHIM_STEPS_STEPS_SEARCH_H

/* Within the steps: the search for the loop that is the step, in the traced process. */

#include <stdbool.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

struct tfs_cache_entry;
struct tfs_thread;

/* Without memory for it, or with nothing to record, there are no steps. */
bool tfs_steps_searchable(void);

/* The thread whose loop is the step's, NULL before any is searched. Any thread. */
struct tfs_thread *tfs_steps_owner(void);

/* Was a step found, or declared? Any thread. */
bool tfs_steps_found(void);

/* Are the steps iterations of the loop with most calls, in which no weights are updated? */
bool tfs_steps_dominant(void);

/* The program said itself what its step is; `what` goes into the recording where it still was
 * searched for. */
void tfs_steps_settle(enum tfs_fact_code what);

/* The program does something else than train, or trains again. By the owner. */
void tfs_steps_elsewhere(bool elsewhere);

/* Came the call before this one, which may open a step, from the same place in the step's loop? By
 * the owner. */
bool tfs_steps_same_place(const struct tfs_thread *thread, const struct tfs_cache_entry *entry);

/* What was marked so far was no training: the step is another loop's. By the owner. Of steps.c;
 * false where another thread is just saying what the step is. */
bool tfs_steps_anew(void);

/* Is it still the search that says where steps begin? Of steps.c. */
bool tfs_steps_by_loops(void);

#endif
