/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOST_HOST_H
#define TFS_SHIM_HOST_HOST_H

/*
 * What the thread that makes the steps does on the host while a window is open: a thread of the
 * shim's own reads it from /proc, a thousand times a second at first. The thread gets no signal;
 * the kernel's task clock, where it may be used, interrupts it in each millisecond that it runs.
 */

#include <stdbool.h>

/* The calling thread makes the steps. */
void tfs_host_watch(void);

/* A window opens or closes. Any thread. */
void tfs_host_window(bool opens);

/* Whether a thread is needed that runs tfs_host_run(), and there is none. The helper. */
bool tfs_host_needed(void);

/* Looks while windows are open, until the process ends; for tfs_threads_start(). */
void *tfs_host_run(void *nothing);

#endif
