/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_SANITIZER_H
#define TFS_SHIM_SANITIZER_H

/*
 * Programs built with ThreadSanitizer. Its runtime takes a thread that libunwind cleans up after
 * for one that is still there, and a process made to share its memory for a thread: neither is done
 * under it.
 */

#include <stdbool.h>

/* Asks the loader: not from a hook. Any thread. */
bool tfs_sanitizer_threads(void);

#endif
