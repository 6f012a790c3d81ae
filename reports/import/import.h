/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_IMPORT_H
#define TFS_REPORTS_IMPORT_IMPORT_H

/*
 * Recordings of other tools as recordings of ours: what is judged and printed knows no other. Only
 * what FORMAT.md has a place for is taken over; whatever else lies in such a file stays there.
 */

#include <stddef.h>

/* Reads such a file, or FILE:PID or FILE:rankN of one with several processes; the caller frees the
 * bytes. -ENOTSUP where it is of no known kind, else a negative errno with a reason in `out_why`,
 * which the caller frees and which is NULL without memory for it. */
int tfs_import(const char *path, void **out_bytes, size_t *out_size, char **out_why);

#endif
