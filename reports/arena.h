/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_ARENA_H
#define TFS_REPORTS_ARENA_H

/*
 * Memory that lives as long as one report and is released at once. Only for the command line
 * program: when there is no memory left, it says so and ends with status 2.
 */

#include <stddef.h>

struct tfs_arena {
	struct tfs_arena_block *blocks;
};

/* Zeroed memory, aligned for anything, owned by the arena. */
void *tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size);

/* A copy of `text`, owned by the arena; NULL stays NULL. */
char *tfs_arena_string(struct tfs_arena *arena, const char *text);

/* A formatted string, owned by the arena. */
char *tfs_arena_print(struct tfs_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Releases everything; the arena may be used again. */
void tfs_arena_finish(struct tfs_arena *arena);

/* Room for one more in a growing array (malloc'd, doubled); returns the array, never NULL. */
void *tfs_grow(void *array, size_t count, size_t size);

#endif
