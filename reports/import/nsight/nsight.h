/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_NSIGHT_H
#define TFS_REPORTS_IMPORT_NSIGHT_H

/*
 * What Nsight Systems exports as SQLite. Its tables and columns differ from version to version, and
 * it may hold any number of processes, of which one is read.
 */

#include <stddef.h>
#include <stdint.h>

struct tfs_choice;
struct tfs_collected;

/* Reads one process: by its pid, by Nsight's number for it, by its rank, or the only one that gave
 * a device work. -ENOTSUP where it is no SQLite file, else a negative errno, with a reason in
 * `why`. */
int tfs_nsight_read(const struct tfs_choice *choice, struct tfs_collected *collected, char *out_why,
	size_t why_bytes);

#endif
