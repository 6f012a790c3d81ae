/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_NEWEST_H
#define TFS_REPORTS_SUPPORT_NEWEST_H

/*
 * Of the recordings in a folder, those of the latest run of each program. Recordings are of one run
 * where `tfshim run` gave them the same number; without it the latest of each rank are. Programs of
 * one name at different paths may be one that was built elsewhere, or two.
 */

#include <stdbool.h>
#include <stddef.h>

struct tfs_later {
	bool same_path;    /* a later run of the program at the same path replaces it */
	bool other_path;   /* only later runs of programs at other paths do, */
	size_t other_last; /* and this is the latest of them */
};

/* Tells of each recording what replaces it; nothing replaces what cannot be read. False without
 * memory: then nothing replaces any. */
bool tfs_newest_find(char *const *paths, size_t count, struct tfs_later *out_later);

#endif
