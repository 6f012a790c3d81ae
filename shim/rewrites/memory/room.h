/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_ROOM_H
#define TFS_SHIM_REWRITES_MEMORY_ROOM_H

/*
 * How much memory of a device is truly free, and how it is given out. Libraries allocate for
 * themselves, and nobody asks us when they find nothing: so a reserve must be left to them. Between
 * looks at the device free memory is tracked by what the program takes. Any thread, inside a hook;
 * the functions below are the runtime's or the driver's, whichever the program uses.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_memory_functions;

/* How many bytes an allocation of so many takes, in whole pages of its own: measured on the device,
 * the current one, at the first question. 0: less than a page, or it could not be measured. */
uint64_t tfs_room_pages(const struct tfs_memory_functions *use, uint32_t device, uint64_t bytes);

/* Is the reserve left when so many bytes more are taken of the current device? `anew`: a look at it
 * is due if the latest is not quite new. */
bool tfs_room_left(
	const struct tfs_memory_functions *use, uint32_t device, uint64_t bytes, bool anew);

/* The program takes so many. */
void tfs_room_taken(uint32_t device, uint64_t bytes);

/* In a forked child. */
void tfs_room_forget(void);

#endif
