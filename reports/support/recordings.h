/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_RECORDINGS_H
#define TFS_REPORTS_SUPPORT_RECORDINGS_H

/*
 * Which recordings did a run make? A program may start others, so its own pid does not tell: all
 * those in the output folder that have the number it gave them, are of this run's rank, and whose
 * process is gone.
 */

#include <stddef.h>
#include <stdint.h>

#define TFS_RECORDINGS_PATTERN "tfshim-out/%e-r%r-%p" /* where TFSHIM_OUTPUT is not set */

struct tfs_recordings {
	char *folder;
	uint64_t run; /* this run's number */
	char **paths;
	size_t count;
	size_t running; /* more of this run's, whose processes are not over */
};

/* Draws a number for what this process starts (TFSHIM_RUN), and notes the folder of an output
 * pattern; NULL = TFS_RECORDINGS_PATTERN. */
void tfs_recordings_start(struct tfs_recordings *recordings, const char *pattern);

/* The rank that the environment gives this process; -1 when it has none. */
long tfs_recordings_own_rank(void);

/* Looks for the recordings of this run; fills `paths` and returns how many. */
size_t tfs_recordings_find(struct tfs_recordings *recordings);

void tfs_recordings_finish(struct tfs_recordings *recordings);

#endif
