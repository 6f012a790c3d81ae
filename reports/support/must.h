/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_MUST_H
#define TFS_REPORTS_SUPPORT_MUST_H

/*
 * Memory of sub-commands, which print what they find as they find it: when there is none left, they
 * say so and end with status 2. What others call answers -ENOMEM instead.
 */

#include <stddef.h>

#include "rules/support/arena.h"

/* The memory, which is never NULL. */
void *tfs_must(void *memory);

/* Room for one more in a growing array (malloc'd, doubled); returns the array, never NULL. */
void *tfs_must_grow(void *array, size_t count, size_t size);

/* Releases an arena that lacked nothing. */
void tfs_must_finish(struct tfs_arena *arena);

#endif
