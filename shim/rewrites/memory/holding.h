/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_HOLDING_H
#define TFS_SHIM_REWRITES_MEMORY_HOLDING_H

/*
 * Do rewrites hold memory: blocks, reserves, or what a search has? While they do TFS_WANT_HELD is
 * set, and each call is told of (common/held.h). Any thread, inside a hook.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/reserves.h"

/* Devices on which a search has memory. */
extern _Atomic uint32_t tfs_search_devices_made;

static inline bool tfs_search_devices_any(void)
{
	return atomic_load_explicit(&tfs_search_devices_made, memory_order_relaxed) != 0;
}

static inline bool tfs_held_any(void)
{
	return tfs_blocks_any() || tfs_reserves_any() || tfs_search_devices_any();
}

/* The first is held, and the last is no longer. */
void tfs_held_begin(void);
void tfs_held_end(void);

/* In a forked child, which has none of it. */
void tfs_held_forget(void);

#endif
