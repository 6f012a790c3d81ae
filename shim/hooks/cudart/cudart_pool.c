/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/ordered.h"
#include "shim/record/hook.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/state/pools.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

TFS_ORDERED_HOOKS(cudaError_t, cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream),
	(out, bytes, stream), NULL)
TFS_ORDERED_HOOKS(cudaError_t, cudaMallocFromPoolAsync,
	(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	(out, bytes, pool, stream), pool)

TFS_TWIN_HOOKS(
	cudaError_t, cudaFreeAsync, _ptsz, (void *address, cudaStream_t stream), (address, stream))
{
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	tfs_blocks_given(address, NULL);
	const cudaError_t status = TFS_TWIN_REAL(cudaFreeAsync)(address, stream);
	tfs_note_free_ordered(&frame, status, address, &was, stream, per_thread);
	return status;
}

TFS_HOOK(
	cudaError_t, cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *like))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemPoolCreate);
	const cudaError_t status = TFS_REAL(cudaMemPoolCreate)(pool, like);

	if (status == cudaSuccess)
		tfs_pools_created(*pool,
			like->location.type == cudaMemLocationTypeDevice ? like->location.id : -1,
			like->handleTypes != cudaMemHandleTypeNone);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_HOOK(cudaError_t, cudaMemPoolDestroy, (cudaMemPool_t pool))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemPoolDestroy);

	tfs_reserves_leave(pool);
	tfs_pools_destroyed(pool);
	const cudaError_t status = TFS_REAL(cudaMemPoolDestroy)(pool);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_HOOK(cudaError_t, cudaMemPoolSetAttribute,
	(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemPoolSetAttribute);
	const cudaError_t status = TFS_REAL(cudaMemPoolSetAttribute)(pool, attribute, value);

	if (status == cudaSuccess && attribute == cudaMemPoolAttrReleaseThreshold) {
		tfs_reserves_leave(pool);
		tfs_pools_set(pool, *(const uint64_t *)value);
	}
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

/* As if the pool kept nothing. */
TFS_HOOK(cudaError_t, cudaMemPoolGetAttribute,
	(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemPoolGetAttribute);
	const bool kept = tfs_reserves_hidden(pool);

	if (TFS_UNLIKELY(kept) && attribute == cudaMemPoolAttrReservedMemCurrent)
		tfs_reserves_give_back(false, tfs_cudart_device());
	const cudaError_t status = TFS_REAL(cudaMemPoolGetAttribute)(pool, attribute, value);
	if (TFS_UNLIKELY(kept) && status == cudaSuccess &&
		attribute == cudaMemPoolAttrReleaseThreshold)
		*(uint64_t *)value = 0;
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

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
