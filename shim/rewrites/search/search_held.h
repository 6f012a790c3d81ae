/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_SEARCH_SEARCH_HELD_H
#define TFS_SHIM_REWRITES_SEARCH_SEARCH_HELD_H

/*
 * Device memory that searches have for themselves, and how it goes back: the device's pool, and
 * what a rewrite that searches has besides. Any thread, inside a hook.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/search/search_device.h"

/* What a rewrite has besides; all members are there. */
struct tfs_search_holder {
	/* Of the pool, what it has lent for good. */
	uint64_t (*lent)(struct tfs_search_device *device);
	/* A library's handle, beside the pool. To end it, the device is taken. */
	uint64_t (*handle_bytes)(const struct tfs_search_device *device);
	void (*handle_end)(struct tfs_search_device *device);
	/* Gives back what no work uses any more; true: something was. */
	bool (*settle)(struct tfs_search_device *device);
	/* Gives back the rest of it. The device is taken, its work over. */
	void (*drop)(struct tfs_search_device *device);
};

/* Once, before that rewrite searches; of one rewrite. */
void tfs_search_hold(const struct tfs_search_holder *holder);

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

#endif
