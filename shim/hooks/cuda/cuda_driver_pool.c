/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/ordered.h"
#include "shim/hooks/pool.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

TFS_ORDERED_HOOKS(CUresult, cuMemAllocAsync, (CUdeviceptr * out, size_t bytes, CUstream stream),
	(out, bytes, stream), NULL)
TFS_ORDERED_HOOKS(CUresult, cuMemAllocFromPoolAsync,
	(CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
	(out, bytes, pool, stream), pool)

TFS_FREE_ORDERED_HOOKS(CUresult, cuMemFreeAsync, CUdeviceptr, CUstream)

TFS_POOL_CREATE_HOOK(
	CUresult, cuMemPoolCreate, CUmemoryPool, CUmemPoolProps, CU_MEM_LOCATION_TYPE_DEVICE)
TFS_POOL_DESTROY_HOOK(CUresult, cuMemPoolDestroy, CUmemoryPool)
TFS_POOL_SET_HOOK(CUresult, cuMemPoolSetAttribute, CUmemoryPool, CUmemPool_attribute)
TFS_POOL_GET_HOOK(CUresult, cuMemPoolGetAttribute, CUmemoryPool, CUmemPool_attribute)

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
