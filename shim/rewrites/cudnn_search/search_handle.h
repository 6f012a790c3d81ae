/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_HANDLE_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_HANDLE_H

/*
 * The cuDNN handle that the search has on each device, on the device's own stream. It takes memory
 * that the program may look for, so it is there from a search, which comes when the device is idle,
 * to the next look only, and where the device may wait for the program, for the search only. All
 * else that the search owns is made while the program makes a handle of its own, which may wait for
 * as much.
 */

#include <cudnn.h>

#include "shim/rewrites/search/search_device.h"

/* The current device's equipment; NULL when there is none, or cuDNN may go away again. Any thread.
 */
struct tfs_search_device *tfs_search_cudnn_device(void);

/* GPU and cuDNN, see decisions.h, of a device that the above has returned; 0: not known. */
uint32_t tfs_search_machine(const struct tfs_search_device *device);

/* NULL: there is none now. */
cudnnHandle_t tfs_search_handle(const struct tfs_search_device *device);

/* Makes it unless it is there: which may wait for the device. The equipment is taken. */
bool tfs_search_handle_make(struct tfs_search_device *device);

/* Which may wait as well. The equipment is taken. */
void tfs_search_handle_end(struct tfs_search_device *device);

/* What it takes of the device's memory; or nearly, with more threads. */
uint64_t tfs_search_handle_bytes(const struct tfs_search_device *device);

/* A device was reset: the handle is gone. */
void tfs_search_handle_forget(uint32_t device);

#endif
