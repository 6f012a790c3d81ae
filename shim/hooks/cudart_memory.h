/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDART_MEMORY_H
#define TFS_SHIM_HOOKS_CUDART_MEMORY_H

/* What the runtime's hooks on memory share. Any thread, inside a hook. */

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

/* The current device. */
uint32_t tfs_cudart_device(void);

/* Before and after an allocation: what rewrites hold is free memory. True when it is worth another
 * try. */
void tfs_cudart_before_alloc(void);
bool tfs_cudart_make_room(cudaError_t status);

#endif
