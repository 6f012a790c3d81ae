/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_BREAKER_BREAKER_MARKS_H
#define TFS_SHIM_REWRITES_BREAKER_BREAKER_MARKS_H

/*
 * The circuit breaker's files, see breaker.h, beside the recordings; in the traced process and in
 * `tfshim run`. They are never read or written, only made, renamed and removed, so that nothing
 * planted in their place is followed:
 *
 *	PROGRAM.acting-PID-START-WHERE        a process in which a rewrite acts
 *	PROGRAM.acting-PID-START-WHERE-again  the same, begun when there was the next one
 *	PROGRAM.unfinished                    one ended, and nobody knows how
 *	PROGRAM.rewrites-off                  one crashed, or two in a row ended like that
 *
 * START is when the process began, WHERE the boot and the namespace of process numbers, so that
 * the same number in another container is another process; there, and on other machines, a lock on
 * the file tells whether it lives.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfs_actor {
	uint32_t pid;
	uint64_t start;
	uint32_t where;
	bool again;
};

struct tfs_marks {
	char folder[PATH_MAX]; /* with its slash */
	char program[NAME_MAX + 1];
};

/* A process that lives, in this place. */
struct tfs_actor tfs_actor_of(uint32_t pid);

/* The marks beside a recording, of the program with this file. */
bool tfs_marks_find(const char *recording, const char *program_path, struct tfs_marks *out_marks);

/* Room of PATH_MAX each; false: the name is too long. */
bool tfs_marks_actor(const struct tfs_marks *marks, const struct tfs_actor *actor, char *out_path);
bool tfs_marks_path(const struct tfs_marks *marks, const char *suffix, char *out_path);

#define TFS_MARKS_OFF ".rewrites-off"
#define TFS_MARKS_UNFINISHED ".unfinished"

/* Turns what processes that are gone left behind into the files that tell of them. */
void tfs_marks_look(const struct tfs_marks *marks);

/* A process ended with this wait status, by its parent. */
void tfs_marks_settle(const struct tfs_marks *marks, struct tfs_actor actor, int status);

#endif
