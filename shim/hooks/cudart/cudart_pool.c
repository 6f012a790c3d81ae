/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/ordered.h"
#include "shim/hooks/pool.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

TFS_ORDERED_HOOKS(cudaError_t, cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream),
	(out, bytes, stream), NULL)
TFS_ORDERED_HOOKS(cudaError_t, cudaMallocFromPoolAsync,
	(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	(out, bytes, pool, stream), pool)

TFS_FREE_ORDERED_HOOKS(cudaError_t, cudaFreeAsync, void *, cudaStream_t)

TFS_POOL_CREATE_HOOK(cudaError_t, cudaMemPoolCreate, cudaMemPool_t, struct cudaMemPoolProps,
	cudaMemLocationTypeDevice)
TFS_POOL_DESTROY_HOOK(cudaError_t, cudaMemPoolDestroy, cudaMemPool_t)
TFS_POOL_SET_HOOK(cudaError_t, cudaMemPoolSetAttribute, cudaMemPool_t, enum cudaMemPoolAttr)
TFS_POOL_GET_HOOK(cudaError_t, cudaMemPoolGetAttribute, cudaMemPool_t, enum cudaMemPoolAttr)

#define FUNCTIONS(X)                                                                               \
	X(cudaMallocAsync, alloc_async)                                                            \
	X(cudaMallocAsync_ptsz, alloc_async)                                                       \
	X(cudaMallocFromPoolAsync, alloc_async)                                                    \
	X(cudaMallocFromPoolAsync_ptsz, alloc_async)                                               \
	X(cudaFreeAsync, free_async)                                                               \
	X(cudaFreeAsync_ptsz, free_async)                                                          \
	X(cudaMemPoolCreate, other)                                                                \
	X(cudaMemPoolDestroy, other)                                                               \
	X(cudaMemPoolSetAttribute, other)                                                          \
	X(cudaMemPoolGetAttribute, property)

FUNCTIONS(TFS_FUNCTION_ROW)
