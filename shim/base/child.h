/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_CHILD_H
#define TFS_SHIM_BASE_CHILD_H

/*
 * Is this a child of the process that records? Known however the child was made, where the kernel
 * (4.14) has memory that a child finds wiped. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>

/* Mutants: a child goes on as if it were the parent. */
#define TFS_NAIVE_FORK 16u

/* Zeroed pages, which a child finds zeroed anew where that can be had; NULL when there are none. */
void *tfs_child_wiped_pages(size_t bytes);

/* This process records: from now on its children can be told. Once. */
void tfs_child_mark(void);

/* This process is known to be a child. */
void tfs_child_found(void);

bool tfs_child_is(void);

#endif
