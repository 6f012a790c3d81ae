/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_HEAP_H
#define TFS_SHIM_BASE_HEAP_H

/*
 * Memory of the shim's own: tables and buffers that come and go while the program runs. It is a
 * jemalloc under other names (heap_jemalloc.c), where the build has its archive, else plain pages
 * (heap_pages.c). The program's heap is never asked, and notices nothing. What needs pages of its
 * own is mapped instead: what the kernel is to wipe for children, stacks, files.
 */

#include <stddef.h>

/* Zeroed, aligned to 16 bytes, and written to by nobody until it is: what is left untouched of a
 * large one costs nothing. NULL when there is none, or in a child that goes on without exec, where
 * a thread that is no more may hold the heap's locks. The caller's, to be freed or kept. Any
 * thread, not in signal handlers; errno is kept. */
void *tfs_heap_alloc(size_t bytes);

/* With the size that was asked for; NULL is nothing to do. Any thread; errno is kept. */
void tfs_heap_free(void *memory, size_t bytes);

#endif
