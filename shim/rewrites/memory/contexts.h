/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_CONTEXTS_H
#define TFS_SHIM_REWRITES_MEMORY_CONTEXTS_H

/*
 * The driver's contexts, by their handles, which are used again once a context has ended. Where the
 * driver is not at hand there are only the devices' own, and these are NULL, or false. Any thread.
 */

#include <stdbool.h>
#include <stdint.h>

/* The current context; NULL: none. */
void *tfs_context_now(void);

/* The context of an address in device memory; NULL: it is not known. */
void *tfs_context_of(const void *address);

/* Is all work of the current context over? Waits a little for that, in all of the run. False as
 * well where that cannot be told. */
bool tfs_context_idle(void);

/* The device's primary context; NULL: it has none now. And whether it has. */
void *tfs_context_primary(uint32_t device);
bool tfs_context_is_active(uint32_t device);

#endif
