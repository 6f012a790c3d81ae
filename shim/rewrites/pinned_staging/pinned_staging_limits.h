/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_LIMITS_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_LIMITS_H

/*
 * What the machine has to spare for staging: processors, memory and its place. Asked in the
 * program's threads; nothing here calls CUDA but for a device's place on the bus.
 */

#include "shim/rewrites/pinned_staging/pinned_staging_device.h"

/* Smallest page of any processor that is supported. */
#define TFS_PAGE 4096u

/* Processors that the process may use, by affinity and the control groups' quota. */
uint32_t tfs_staging_processors(void);

/* How many copy threads there are idle processors for, besides the copying thread itself.
 * `loadavg` is a descriptor of /proc/loadavg, or -1: nothing else is taken to run. `own` of the
 * threads that run now are copy threads. */
uint32_t tfs_staging_idle(int loadavg, uint32_t own);

/* Would `bytes` more of pinned memory, and the copy threads' stacks, leave the program enough of
 * what limits its address space and its control group's memory? */
bool tfs_staging_has_room(uint64_t bytes);

/* Is every page of the range mapped? */
bool tfs_staging_is_mapped(const void *address, size_t bytes);

/* Lets memory be taken from the device's node until the end is called; the thread's own policy is
 * kept in between. Does nothing where the node is not known, or it is not allowed. `root` is where
 * sysfs is. */
struct tfs_staging_policy {
	unsigned long nodes[16];
	int mode;
	bool changed;
};
void tfs_staging_near(const struct tfs_staging_device *device, int number, const char *root,
	struct tfs_staging_policy *out_policy);
void tfs_staging_near_end(const struct tfs_staging_policy *policy);

/* The node of the device at a place on the bus, under `root` (sysfs); -1 when it is not known. */
int tfs_staging_node(const char *root, const char *bus_id);

#endif
