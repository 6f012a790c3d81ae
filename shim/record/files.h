/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_FILES_H
#define TFS_SHIM_RECORD_FILES_H

/*
 * What touches the folder of the recording is done by one thread, of which others ask it: a file
 * system that does not answer, as NFS may for hours, keeps that thread and nobody else for longer
 * than the patience that the others have.
 *
 * A job is a function of its own. What it works with stays for ever, since it may be done after
 * nobody waits for it any more.
 */

#include <stdbool.h>
#include <stdint.h>

/* A thread is about to serve; it ended, or there is none after all: who asks does it himself. */
void tfs_files_served(bool by_thread);

/* True once it has been done. For threads of the program, while it runs: together they wait for
 * answers for a second, beyond what any answer may take. Any thread; signal handlers too. */
bool tfs_files_ask(void (*job)(void));

/* The same at the program's end, for which there are ten seconds in all. */
bool tfs_files_ask_last(void (*job)(void));

/* The same, and where there is no answer it is said. */
bool tfs_files_answer(void (*job)(void));

/* A job: ends the recording, and is the last one. */
void tfs_files_finish(void);

/* The thread that serves: does what was asked for, if anything. False when that was the last. */
bool tfs_files_serve(void);

/* Of tfs_files_finish(): is all in the file? */
bool tfs_files_whole(void);

#endif
