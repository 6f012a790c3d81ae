/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_BREAKER_H
#define TFS_RULES_REWRITES_BREAKER_H

/*
 * The circuit breaker: after a run that ended abnormally while a rewrite acted, the program's next
 * runs that record into the same folder leave rewrites off, until a file is deleted.
 *
 * Before a process's first rewrite acts it makes an empty file PROGRAM.acting-PID-START-WHERE
 * beside its recording, and removes it when it ends: by exit(), _exit() or quick_exit(), or by
 * SIGINT, SIGTERM or SIGHUP, which somebody wished. Who finds one whose process is gone renames it
 * to PROGRAM.rewrites-off. The files are never read or written, only made, renamed and removed, so
 * that nothing planted in their place is followed. START is when the process began, WHERE the boot
 * and the namespace of process numbers, so that the same number in another container is another
 * process; there, and on other machines, a lock on the file tells whether it lives.
 *
 * To notice the three signals they get a handler, if the program has none and does not ignore them.
 * Where the folder cannot be written there is no breaker.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are rewrites to stay off? Once, at start. Then *out_file is the file to delete; static. */
bool tfs_breaker_tripped(const char **out_file);

/* A rewrite acts for the first time. Once, in a process that has asked the above. */
void tfs_breaker_arm(void);

/* Holds the lock, once there is something to lock. A thread with descriptors of its own. */
void tfs_breaker_hold(void);

/* The process ends in an orderly way. Any thread; signal handlers too. */
void tfs_breaker_disarm(void);

/* Who made a file; its name behind the program's. Pure. */
struct tfs_actor {
	uint32_t pid;
	uint64_t start;
	uint32_t where;
};
bool tfs_actor_read(const char *name, const char *program, struct tfs_actor *out_actor);

#endif
