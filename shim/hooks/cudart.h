/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDART_H
#define TFS_SHIM_HOOKS_CUDART_H

/* What the hooks on the runtime share: how an allocation is written down, and what an array is made
 * of. For the call's own thread. */

#include <cuda_runtime_api.h>

#include "shim/record/hook.h"
#include "shim/state/memory.h"

/* Memory was allocated, or not; ends the frame. */
void tfs_cudart_note_alloc(struct tfs_frame *frame, cudaError_t status, const void *address,
	size_t bytes, enum tfs_memory_kind kind, uint32_t flags);

/* Bytes to an element; 1 when it cannot be asked. After a call that succeeded with this array. */
size_t tfs_cudart_element(cudaArray_const_t array);

#endif
