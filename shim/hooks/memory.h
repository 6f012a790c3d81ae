/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_MEMORY_H
#define TFS_SHIM_HOOKS_MEMORY_H

/* How rewrites take part in the allocations and frees of the runtime and of the driver. For the
 * call's own thread. */

#include <stdbool.h>
#include <stdint.h>

#include "shim/record/frame.h"
#include "shim/state/memory.h"

/* Lets a rewrite carry out the call; false: it is the real function's. The address, a pointer or a
 * CUdeviceptr, is set where it has succeeded. */
bool tfs_take_alloc(const struct tfs_frame *frame, uint64_t bytes, bool driver, void *out_address,
	uint32_t *out_status);
bool tfs_take_free(const struct tfs_frame *frame, void *address, const struct tfs_range *was,
	bool driver, uint32_t *out_status);

#endif
