/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDART_CUDART_H
#define TFS_SHIM_HOOKS_CUDART_CUDART_H

/* What an array of the runtime's is made of, for the call's own thread. */

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Bytes to an element; 1 when it cannot be asked. After a call that succeeded with this array. */
size_t tfs_cudart_element(cudaArray_const_t array);

#endif
