/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_PAGES_H
#define TFS_RULES_SUPPORT_PAGES_H

/*
 * Memory for long arrays. Laying out a recording fills hundreds of megabytes once; in small pages,
 * half of the time would go into page faults.
 */

#include <stddef.h>

/* Uninitialised memory for free(); NULL when there is none, or when the size overflows. */
void *tfs_pages_alloc(size_t count, size_t bytes);
/* The same, zeroed. */
void *tfs_pages_zeroed(size_t count, size_t bytes);

#endif
