/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_COLLECTOR_H
#define TFS_CUPTI_COLLECTOR_H

/*
 * Device activity from CUPTI, in windows: kernels, copies, memsets and waits, each tied to the
 * wrapped call it was made in. CUPTI is opened at run time; when it is missing or taken, every
 * function here does nothing and a fact in the recording says why. collector_none.c is the same
 * for builds without CUPTI's headers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/refusal.h"

/* Opens libcupti and subscribes. Only from the helper thread: it may wait for the loader. */
void tfs_collector_start(void);

/* Is there activity to be had? Any thread. */
bool tfs_collector_ready(void);

/* Starts or stops activity; false when there is none to be had. A CUPTI that refuses to start is
 * given back. Any thread, one at a time. */
bool tfs_collector_window(bool open);

/* Takes what CUPTI has ready. Only from the helper thread, now and then. */
void tfs_collector_poll(void);

/* Around a wrapped call, in its thread, while a window with activity is open: CUDA calls made in
 * between belong to the record at `unit` of the recording. A few nanoseconds, no waiting. */
void tfs_collector_push(uint64_t unit);
void tfs_collector_pop(void);

/* Takes what CUPTI still holds. At exit. */
void tfs_collector_finish(void);

/* Gives CUPTI back to whoever wants it, with all that it holds for us; it is not taken again before
 * tfs_collector_return(). False when it was not ours, nor about to be. Waits for a second at most,
 * for the helper thread's start. */
bool tfs_collector_leave(bool *out_was_on);

/* Takes CUPTI again; false when that fails, with the reason, or when the helper thread is still to
 * look for it. */
bool tfs_collector_return(struct tfs_cupti_refusal *out_refusal);

/* Another tool subscribed; CUPTI itself may not know its name. Text is copied. */
void tfs_collector_taken(const char *by);

/* Another tool wants its buffers filled: returns what to register as the function that takes them.
 * CUPTI may still hold buffers of ours, which that tool must never see. */
void *tfs_collector_share(void *request, void *complete);

/* In a forked child: CUPTI is never touched again. */
void tfs_collector_forget(void);

#endif
