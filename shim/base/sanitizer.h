/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_SANITIZER_H
#define TFS_SHIM_BASE_SANITIZER_H

/*
 * Programs built with a sanitizer. ThreadSanitizer's runtime takes a thread that libunwind cleans
 * up after for one that is still there, and a process made to share its memory for a thread:
 * neither is done under it. The runtime that looks for leaks takes what lies before a thread's
 * memory in a library loaded later for its bounds, if that memory is where an older C library would
 * have had it, and fails; libunwind has such memory, and is not used there either.
 */

#include <stdbool.h>

/* Asks the loader: not from a hook. Any thread. */
bool tfs_sanitizer_threads(void);
bool tfs_sanitizer_leaks(void);

#endif
