/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_ARENA_H
#define TFS_RULES_SUPPORT_ARENA_H

/*
 * Memory that lives as long as one judgement, or one report, and is released at once. Without
 * memory the arena answers NULL and remembers that it did, so that one check at the end is enough
 * for text.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct tfs_arena_block;

struct tfs_arena {
	struct tfs_arena_block *blocks;
	bool failed;
};

/* Zeroed memory for `count` items of `size` bytes, owned by the arena; NULL without memory. */
void *tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size);

/* Room for one more behind `count` items: the same array, or a copy of twice its size; NULL without
 * memory. The array starts as NULL and is the arena's. */
void *tfs_arena_grow(struct tfs_arena *arena, void *array, size_t count, size_t size);

/* A copy of `text` owned by the arena; NULL stays NULL, "" without memory. */
char *tfs_arena_string(struct tfs_arena *arena, const char *text);

/* A formatted text owned by the arena; "" without memory. */
char *tfs_arena_text(struct tfs_arena *arena, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
char *tfs_arena_print(struct tfs_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Releases everything; 0, or -ENOMEM where memory was missing. The arena may be used again. */
int tfs_arena_finish(struct tfs_arena *arena);

#endif
