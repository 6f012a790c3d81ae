/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_SEARCH_WORKSPACE_H
#define TFS_RULES_REWRITES_SEARCH_WORKSPACE_H

/*
 * Workspaces for algorithms that want more than the program gave: one buffer per device and stream.
 * Work on a stream is ordered, so its calls can share one. Outgrown buffers stay until the device
 * is reset, since work may still use them.
 */

#include "rules/rewrites/search_device.h"

/* A buffer of at least `bytes` for the stream, which has the id `stream`. NULL, and at once, when
 * there is none to be had within the limit. Any thread. */
void *tfs_search_workspace(
	struct tfs_search_device *device, CUstream handle, uint16_t stream, uint64_t bytes);

/* A device was reset: its buffers are gone. */
void tfs_search_workspace_forget(uint32_t device);

#endif
