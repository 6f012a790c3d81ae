/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_SEARCH_HELD_H
#define TFS_SHIM_REWRITES_MEMORY_SEARCH_HELD_H

/*
 * Device memory that the search has for itself: its cuDNN handle, workspaces, scratch tensors. Any
 * thread, inside a hook.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Is there any memory that the search holds? */
extern _Atomic uint32_t tfs_search_devices_made;
static inline bool tfs_search_devices_any(void)
{
	return atomic_load_explicit(&tfs_search_devices_made, memory_order_relaxed) != 0;
}

/* How much the search holds of the device: to the program that is free. */
uint64_t tfs_search_device_holds(uint32_t device);

/* Gives back what the search holds of the current device. Waits for the device. True when something
 * went; false while it is in use. */
bool tfs_search_device_drop(void);

/* Of that only the handle, which may take more than was told when it was made. And is there one? */
void tfs_search_device_drop_handle(void);
bool tfs_search_device_has_handle(void);

/* Of that only what no work uses any more, which takes no wait for the device. True when something
 * went. */
bool tfs_search_device_drop_unused(void);

/* All of it once the device, with so many bytes less, has too little left to search. */
void tfs_search_device_drop_short(uint64_t bytes);

/* In a forked child. */
void tfs_search_devices_forget(void);

#endif
