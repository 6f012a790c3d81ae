/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_THREADS_H
#define TFS_SHIM_BASE_THREADS_H

/*
 * The shim's own threads: they sleep until there is work, and they are told apart from the
 * program's, which end the process when the last of them has ended. Any thread; errno is kept.
 */

#include <stdbool.h>
#include <stdint.h>

/* Starts one that nobody joins, with all signals blocked: the program's are for its own threads.
 * False where that is refused. */
bool tfs_threads_start(void *(*run)(void *argument), void *argument);

/* Called by each as it begins: names it, counts it, and lets it run wherever the process may: the
 * thread that started it may be pinned to one processor, which it must not share. Such a thread
 * returns soon, a second at most, once tfs_threads_alone(): the program's have all ended, and the
 * process is to end with them. */
void tfs_threads_begin(const char *name);
bool tfs_threads_alone(void);

/* How many have begun, and that no other thread is left. */
uint32_t tfs_threads_counted(void);
void tfs_threads_left_alone(void);

/* Gives the calling thread a table of descriptors of its own, with nothing in it: the program may
 * close any number, and count on which one it gets next. False where that is not to be had. */
bool tfs_threads_own_descriptors(void);

/* What a thread sleeps for. */
enum tfs_threads_call {
	TFS_CALL_WRITE, /* the one that writes the recording's file: there is work */
	TFS_CALL_LOOK,  /* the helper: a window opened, activity is collected more often now */
	TFS_CALL_HOST,  /* the one that looks at the host: a window opened */
	TFS_CALLS
};

/* Wakes whoever sleeps for it. */
void tfs_threads_wake(enum tfs_threads_call call);

/* How often that was done; sleeps until it is more often than was `seen`, or for so long. */
uint32_t tfs_threads_woken(enum tfs_threads_call call);
void tfs_threads_doze(enum tfs_threads_call call, uint32_t seen, uint64_t ns);

#endif
