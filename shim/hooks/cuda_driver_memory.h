/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDA_DRIVER_MEMORY_H
#define TFS_SHIM_HOOKS_CUDA_DRIVER_MEMORY_H

/* What the driver's hooks on memory share. Any thread, inside a hook. */

#include <stdbool.h>
#include <stdint.h>

#include "shim/hooks/cuda.h"

/* The current device. */
uint32_t tfs_cuda_device(void);

/* Around an allocation, see cudart.h. After it: what rewrites hold is free memory. True when it is
 * worth another try. */
void tfs_cuda_before_alloc(size_t bytes, bool ordered);
bool tfs_cuda_make_room(CUresult status);

#endif
