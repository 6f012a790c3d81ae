/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_BREAKER_BREAKER_H
#define TFS_SHIM_REWRITES_BREAKER_BREAKER_H

/*
 * The circuit breaker: after a run that crashed while a rewrite acted, or two in a row of which
 * nobody knows how they ended, the program's next runs that record into the same folder leave
 * rewrites off, until a file is deleted.
 *
 * Before a process's first rewrite acts it makes a mark beside its recording (breaker_marks.h), and
 * removes it when it ends by exit(), _exit() or quick_exit(). Nothing else in the process tells how
 * it ends: a signal's handler would be seen by the program. `tfshim run` sees the status of what it
 * started: a crash counts at once, and a signal that somebody sent not at all, but for SIGKILL. Of
 * any other process that is gone, and left its mark, the next start knows that it did not finish.
 * Where the folder cannot be written there is no breaker, which is said.
 */

#include <stdbool.h>

/* Are rewrites to stay off? Once, at start; a job for the thread that touches files. Then *out_file
 * is the file to delete; static. */
bool tfs_breaker_tripped(const char **out_file);

/* A rewrite acts for the first time. Once, in a process that has asked the above. 0, or -errno:
 * no mark could be made; -ETIMEDOUT: the folder did not answer. */
int tfs_breaker_arm(void);

/* Holds the lock, once there is something to lock. A thread with descriptors of its own. */
void tfs_breaker_hold(void);

/* The process ends in an orderly way. Any thread; signal handlers too. */
void tfs_breaker_disarm(void);

#endif
