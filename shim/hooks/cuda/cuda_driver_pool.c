/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/ordered.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/state/pools.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

TFS_ORDERED_HOOKS(CUresult, cuMemAllocAsync, (CUdeviceptr * out, size_t bytes, CUstream stream),
	(out, bytes, stream), NULL)
TFS_ORDERED_HOOKS(CUresult, cuMemAllocFromPoolAsync,
	(CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
	(out, bytes, pool, stream), pool)

TFS_TWIN_HOOKS(
	CUresult, cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream stream), (address, stream))
{
	struct tfs_range was = {0};

	tfs_memory_remove(address, &was);
	tfs_blocks_given((void *)(uintptr_t)address, NULL);
	const CUresult status = TFS_TWIN_REAL(cuMemFreeAsync)(address, stream);
	tfs_note_free_ordered(&frame, status, (void *)(uintptr_t)address, &was, stream, per_thread);
	return status;
}

TFS_HOOK(CUresult, cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *like))
{
	struct tfs_frame frame = TFS_ENTER(cuMemPoolCreate);
	const CUresult status = TFS_REAL(cuMemPoolCreate)(pool, like);

	if (status == CUDA_SUCCESS)
		tfs_pools_created(*pool,
			like->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? like->location.id : -1,
			like->handleTypes != CU_MEM_HANDLE_TYPE_NONE);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_HOOK(CUresult, cuMemPoolDestroy, (CUmemoryPool pool))
{
	struct tfs_frame frame = TFS_ENTER(cuMemPoolDestroy);

	tfs_reserves_leave(pool);
	tfs_pools_destroyed(pool);
	const CUresult status = TFS_REAL(cuMemPoolDestroy)(pool);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_HOOK(CUresult, cuMemPoolSetAttribute,
	(CUmemoryPool pool, CUmemPool_attribute attribute, void *value))
{
	struct tfs_frame frame = TFS_ENTER(cuMemPoolSetAttribute);
	const CUresult status = TFS_REAL(cuMemPoolSetAttribute)(pool, attribute, value);

	if (status == CUDA_SUCCESS && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
		tfs_reserves_leave(pool);
		tfs_pools_set(pool, *(const uint64_t *)value);
	}
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

/* As if the pool kept nothing. */
TFS_HOOK(CUresult, cuMemPoolGetAttribute,
	(CUmemoryPool pool, CUmemPool_attribute attribute, void *value))
{
	struct tfs_frame frame = TFS_ENTER(cuMemPoolGetAttribute);
	const bool kept = tfs_reserves_hidden(pool);

	if (TFS_UNLIKELY(kept) && attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
		tfs_reserves_give_back(true, tfs_cuda_device());
	const CUresult status = TFS_REAL(cuMemPoolGetAttribute)(pool, attribute, value);
	if (TFS_UNLIKELY(kept) && status == CUDA_SUCCESS &&
		attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		*(uint64_t *)value = 0;
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_PLAIN_HOOK(CUresult, cuMemPoolTrimTo, (CUmemoryPool pool, size_t kept), (pool, kept))

#define FUNCTIONS(X)                                                                               \
	X(cuMemAllocAsync, , , 11020, alloc_async)                                                 \
	X(cuMemAllocAsync, , _ptsz, 11020, alloc_async)                                            \
	X(cuMemAllocFromPoolAsync, , , 11020, alloc_async)                                         \
	X(cuMemAllocFromPoolAsync, , _ptsz, 11020, alloc_async)                                    \
	X(cuMemFreeAsync, , , 11020, free_async)                                                   \
	X(cuMemFreeAsync, , _ptsz, 11020, free_async)                                              \
	X(cuMemPoolCreate, , , 11020, other)                                                       \
	X(cuMemPoolDestroy, , , 11020, other)                                                      \
	X(cuMemPoolTrimTo, , , 11020, other)                                                       \
	X(cuMemPoolSetAttribute, , , 11020, other)                                                 \
	X(cuMemPoolGetAttribute, , , 11020, property)

FUNCTIONS(TFS_DRIVER_ROW)
