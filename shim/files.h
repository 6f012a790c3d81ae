/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_FILES_H
#define TFS_SHIM_FILES_H

/*
 * What touches the recording's file is done by one thread, of which others ask it: a file system
 * that does not answer, as NFS may for hours, keeps that thread and nobody else for longer than the
 * patience that the others have.
 */

#include <stdbool.h>
#include <stdint.h>

enum tfs_files_job {
	TFS_FILES_CREATE,
	TFS_FILES_WRITE, /* what there is: does the file system answer? */
	TFS_FILES_FINISH,
};

/* A thread is about to serve; it ended, or there is none after all: who asks does it himself. */
void tfs_files_served(bool by_thread);

/* True once it has been done. One thread at a time. */
bool tfs_files_ask(enum tfs_files_job job, uint64_t patience_ns);

/* The same at the program's end; where there is no answer in ten seconds it is said. */
bool tfs_files_answer(enum tfs_files_job job);

/* The thread that serves: does what was asked for, if anything. False when that was the last. */
bool tfs_files_serve(void);

/* Of the latest TFS_FILES_FINISH: is all in the file? */
bool tfs_files_whole(void);

#endif
