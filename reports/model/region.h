/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_REGION_H
#define TFS_REPORTS_MODEL_REGION_H

/*
 * Memory that lives as long as one report and is released at once. Only for the command line
 * program: when there is no memory left, it says so and ends with status 2.
 */

#include <stddef.h>

struct tfs_region {
	struct tfs_region_block *blocks;
};

/* Zeroed memory, aligned for anything, owned by the region. */
void *tfs_region_alloc(struct tfs_region *region, size_t count, size_t size);

/* A copy of `text`, owned by the region; NULL stays NULL. */
char *tfs_region_string(struct tfs_region *region, const char *text);

/* A formatted string, owned by the region. */
char *tfs_region_print(struct tfs_region *region, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

/* Releases everything; the region may be used again. */
void tfs_region_finish(struct tfs_region *region);

/* Room for one more in a growing array (malloc'd, doubled); returns the array, never NULL. */
void *tfs_grow(void *array, size_t count, size_t size);

#endif
