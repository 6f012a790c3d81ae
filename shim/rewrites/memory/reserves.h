/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_RESERVES_H
#define TFS_SHIM_REWRITES_MEMORY_RESERVES_H

/*
 * Stream-ordered pools that a rewrite has told to keep their memory when the host waits. To the
 * program they give it back, as it left them: the hooks answer so, and have the memory given back
 * where the program would see that it is not there. Any thread, inside a hook; no CUDA call is made
 * while the table is locked.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint32_t tfs_reserves_count;

static inline bool tfs_reserves_any(void)
{
	return atomic_load_explicit(&tfs_reserves_count, memory_order_relaxed) != 0;
}

/* Has the pool keep so many bytes; false: it could not be done. */
bool tfs_reserves_keep(bool driver, void *pool, uint32_t device, uint64_t bytes);

/* What the pool keeps; 0: it is not one of these. */
uint64_t tfs_reserves_kept(const void *pool);

/* Does a pool of the device keep anything? */
bool tfs_reserves_of(uint32_t device);

/* Is what the pool keeps to be kept from the program, which asks about the pool? */
bool tfs_reserves_hidden(const void *pool);

/* The device's pools keep nothing from the next wait on, as the program left them. */
void tfs_reserves_drop(bool driver, uint32_t device);

/* The device's pools, or those of TFS_ALL_DEVICES, give back now what they keep, and go on keeping.
 */
void tfs_reserves_give_back(bool driver, uint32_t device);

/* After an allocation that returned `status`: true when memory was given back and it is worth
 * another try. Those pools keep nothing any more. */
bool tfs_reserves_make_room(bool driver, uint32_t status, uint32_t device);

/* Has memory ever been so short on the device? */
bool tfs_reserves_short(uint32_t device);

/* The program sets the pool's threshold itself, or ends the pool. */
void tfs_reserves_leave(const void *pool);

/* In a forked child. */
void tfs_reserves_forget(void);

#endif
