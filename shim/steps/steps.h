/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_STEPS_H
#define TFS_SHIM_STEPS_STEPS_H

/*
 * Finds the program's training step while it runs and marks each one. loops.h holds the pure
 * search; this is its owner in the traced process: it feeds the search, writes marks, opens and
 * closes windows. The steps are those of the thread in whose calls one is found first. A program
 * that says where its steps begin is believed: tfshim_step() before NVTX ranges before loops.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

struct tfs_cache_entry;
struct tfs_details;
struct tfs_frame;
struct tfs_thread;

/* Called once the recording is open. */
void tfs_steps_start(void);

/* Feeds a call to the step search. Only while TFS_WANT_STEPS is set. */
void tfs_steps_feed(const struct tfs_frame *frame, const struct tfs_details *details);

/* TFS_SITE_* of a call site that was just named, in the calling thread. */
uint16_t tfs_steps_site_flags(uint32_t site);

/* A call site with TFS_SITE_OPENS_STEP or TFS_SITE_OUTSIDE was reached, before the call. */
void tfs_steps_mark(struct tfs_thread *thread, const struct tfs_cache_entry *entry);

/* The program says that a step begins here, or that what follows is no training. The first thread
 * that says so by the best means is the only one that is heard. */
void tfs_steps_begin(enum tfs_step_source source, uint64_t ticks, uint64_t caller);
void tfs_steps_end(enum tfs_step_source source, uint64_t ticks, uint64_t caller);

/* Is this the thread whose steps they are, or of those that are searched the one whose calls go
 * with the program's NVTX ranges? */
bool tfs_steps_is_owner(void);

/* For tests: the running step's index (from 1), 0 outside steps. Any thread. */
uint64_t tfs_steps_now(void);

/* Steps that began so far. Any thread. */
uint64_t tfs_steps_count(void);

/* Are the steps those of a loop that may be no training at all? Any thread. */
bool tfs_steps_doubtful(void);

/* Writes what is pending. At exit, in any thread. */
void tfs_steps_finish(void);

#endif
