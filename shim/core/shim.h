/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CORE_SHIM_H
#define TFS_SHIM_CORE_SHIM_H

/*
 * The life of the shim in a process: nothing happens before the first CUDA call; that call opens
 * the recording and starts the helper thread, for which nobody ever waits; at exit the recording
 * is closed and the report is made by a child; a forked child forgets everything. All memory is
 * static or mapped: the program's heap is never touched.
 */

#include <stdbool.h>

/* Starts on first use. False while another thread is starting, when the shim is switched off, and
 * when it could not start. Never waits. */
bool tfs_shim_running(void);

/* In a child that was made behind the C library's back, so that nobody forgot the parent's
 * recording for it: does so, and is true. Cold. */
bool tfs_shim_forget_parents(void);

/* A call has returned from the libraries: the end of the process is watched from here on. Cold. */
void tfs_shim_first_call_done(void);

#endif
