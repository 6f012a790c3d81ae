/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_ENDING_H
#define TFS_CUPTI_ENDING_H

/*
 * CUPTI's exit handlers take down what it has made, and a thread that is still starting CUPTI then
 * crashes. Handlers run in the reverse of the order in which they were registered, by CUPTI's
 * constructors or at any moment of its start; so behind each of them one of ours is registered,
 * which runs before and waits. For that, __cxa_atexit() is ours.
 */

#include <stdbool.h>

/* In our constructor: later the loader may be busy. */
void tfs_ending_init(void);

/* The calling thread is about to start CUPTI: from now on the process's end waits for it, for a
 * second at most. False when the process ends already; then nothing of CUPTI is to be called. One
 * thread at a time; not reentrant. */
bool tfs_ending_wait_for_us(void);

/* The process may end. */
void tfs_ending_go_on(void);

#endif
