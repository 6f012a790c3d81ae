/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_GROUP_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_GROUP_H

/*
 * What the process's control groups leave it, of both versions, and of all groups above its own.
 * `list` is the file that names them (/proc/self/cgroup), `root` where they are mounted
 * (/sys/fs/cgroup). What cannot be read sets no limit. Opens files; for rare calls.
 */

#include <stddef.h>
#include <stdint.h>

/* Processors, rounded down but at least one; UINT32_MAX without a limit. */
uint32_t tfs_staging_group_processors(const char *root, const char *list);

/* Bytes of memory, what the page cache holds counted as free; UINT64_MAX without a limit. */
uint64_t tfs_staging_group_memory(const char *root, const char *list);

/* A small file's text in `buffer`; empty when it cannot be read. */
const char *tfs_staging_read(const char *path, char *buffer, size_t bytes);

#endif
