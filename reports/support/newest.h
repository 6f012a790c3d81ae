/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_NEWEST_H
#define TFS_REPORTS_SUPPORT_NEWEST_H

/*
 * Of the recordings in a folder, those of the latest run of each program. Recordings are of one run
 * where `tfshim run` gave them the same number; without it the latest of each rank are.
 */

#include <stdbool.h>
#include <stddef.h>

/* Sets `out_old` for each recording that a later run of its program replaces; what cannot be read
 * is not old. False without memory: then none is. */
bool tfs_newest_find(char *const *paths, size_t count, bool *out_old);

#endif
