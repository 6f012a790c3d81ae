/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_WORKSPACE_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_WORKSPACE_H

/*
 * Workspaces for algorithms that want more than the program gave. Each call has one of its own, for
 * as long as it takes: allocated before it and freed behind it, in the order of its stream. So no
 * two streams share one, there is no number of streams that is too many, and a stream may go
 * whenever the program likes. A captured call keeps its workspace for as long as there is a graph
 * that may run it; the calls that one capture makes on one stream share it.
 */

#include "shim/rewrites/search/search_device.h"

/* At least `bytes`, for a call on the stream, which `capture` (unless that is 0) captures: then
 * they are lent to its graphs. NULL, and at once, when there are none to be had. Any thread. */
void *tfs_workspace_get(
	struct tfs_search_device *device, CUstream stream, uint64_t capture, uint64_t bytes);

/* How much is lent to graphs of the device that are still there; what was lent to others goes back
 * to the device's pool. No capture is to be disturbed by that: see tfs_search_relax(). */
uint64_t tfs_workspace_lent(struct tfs_search_device *device);

/* What was not lent to graphs, once the call is on the stream. */
void tfs_workspace_give_back(void *workspace, CUstream stream);

/* A device was reset: its memory is gone. */
void tfs_workspace_forget(uint32_t device);

#endif
