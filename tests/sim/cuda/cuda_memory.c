/* SPDX-License-Identifier: MIT */
#include "tests/sim/cuda/cuda_private.h"

static cudaError_t alloc(CUdeviceptr *out, size_t size)
{
	void *address;
	cudaError_t error;

	if (!out || !size)
		return cudaErrorInvalidValue;
	error = tfsim_malloc(&address, size);
	if (!error)
		*out = (uintptr_t)address;
	return error;
}

SIM_DRIVER(cuMemAlloc_v2, (CUdeviceptr * dptr, size_t bytesize), alloc(dptr, bytesize))

SIM_DRIVER(cuMemFree_v2, (CUdeviceptr dptr), tfsim_free(sim_pointer(dptr)))

static cudaError_t alloc_pitch(
	CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
	if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
		return cudaErrorInvalidValue;
	*pitch = (width + 511) / 512 * 512;
	return alloc(out, *pitch * height);
}

SIM_DRIVER(cuMemAllocPitch_v2,
	(CUdeviceptr * dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
		unsigned int ElementSizeBytes),
	alloc_pitch(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes))

SIM_DRIVER(cuMemAllocHost_v2, (void **pp, size_t bytesize), tfsim_host_alloc(pp, bytesize, 0))

SIM_DRIVER(cuMemHostAlloc, (void **pp, size_t bytesize, unsigned int Flags),
	tfsim_host_alloc(pp, bytesize, Flags))

SIM_DRIVER(cuMemFreeHost, (void *p), tfsim_host_free(p))

SIM_DRIVER(cuMemHostRegister_v2, (void *p, size_t bytesize, unsigned int Flags),
	tfsim_host_register(p, bytesize, Flags))

SIM_DRIVER(cuMemHostUnregister, (void *p), tfsim_host_unregister(p))

static cudaError_t device_pointer(CUdeviceptr *out, void *p)
{
	if (!out || tfsim_memory_kind(p) != TFSIM_PINNED)
		return cudaErrorInvalidValue;
	*out = (uintptr_t)p;
	return cudaSuccess;
}

SIM_DRIVER(cuMemHostGetDevicePointer_v2, (CUdeviceptr * pdptr, void *p, unsigned int Flags),
	Flags ? cudaErrorInvalidValue : device_pointer(pdptr, p))

static cudaError_t host_flags(unsigned *out, void *p)
{
	struct tfsim_range range;

	if (!out || !tfsim_memory_find(p, &range) || range.kind != TFSIM_PINNED)
		return cudaErrorInvalidValue;
	*out = range.flags;
	return cudaSuccess;
}

SIM_DRIVER(cuMemHostGetFlags, (unsigned int *pFlags, void *p), host_flags(pFlags, p))

static cudaError_t alloc_managed(CUdeviceptr *out, size_t size, unsigned flags)
{
	void *address;
	cudaError_t error;

	if (!out || !size)
		return cudaErrorInvalidValue;
	error = tfsim_managed_alloc(&address, size, flags);
	if (!error)
		*out = (uintptr_t)address;
	return error;
}

SIM_DRIVER(cuMemAllocManaged, (CUdeviceptr * dptr, size_t bytesize, unsigned int flags),
	alloc_managed(dptr, bytesize, flags))

SIM_DRIVER(cuMemGetInfo_v2, (size_t * free, size_t *total), tfsim_memory_info(free, total))

static cudaError_t address_range(CUdeviceptr *base, size_t *size, CUdeviceptr dptr)
{
	struct tfsim_range range;

	if (!tfsim_memory_find(sim_pointer(dptr), &range))
		return cudaErrorInvalidValue;
	if (base)
		*base = (uintptr_t)range.base;
	if (size)
		*size = range.size;
	return cudaSuccess;
}

SIM_DRIVER(cuMemGetAddressRange_v2, (CUdeviceptr * pbase, size_t *psize, CUdeviceptr dptr),
	address_range(pbase, psize, dptr))

static cudaError_t alloc_async(CUdeviceptr *out, size_t size, cudaMemPool_t pool, CUstream stream)
{
	void *address;
	cudaError_t error;

	if (!out || !size)
		return cudaErrorInvalidValue;
	if (!pool)
		pool = tfsim_pool_current(tfsim_stream_device(stream));
	error = tfsim_malloc_async(&address, size, pool, stream);
	if (!error)
		*out = (uintptr_t)address;
	return error;
}

SIM_DRIVER_TWINS(cuMemAllocAsync, _ptsz, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
	alloc_async(dptr, bytesize, NULL, hStream ? hStream : none))

SIM_DRIVER_TWINS(cuMemAllocFromPoolAsync, _ptsz,
	(CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
	alloc_async(dptr, bytesize, pool, hStream ? hStream : none))

SIM_DRIVER_TWINS(cuMemFreeAsync, _ptsz, (CUdeviceptr dptr, CUstream hStream),
	tfsim_free_async(sim_pointer(dptr), hStream ? hStream : none))

SIM_DRIVER(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *poolProps),
	pool &&poolProps ? tfsim_pool_create(pool, poolProps->location.id) : cudaErrorInvalidValue)

SIM_DRIVER(cuMemPoolDestroy, (CUmemoryPool pool), tfsim_pool_destroy(pool))

SIM_DRIVER(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value),
	tfsim_pool_get(pool, (enum cudaMemPoolAttr)attr, value))

SIM_DRIVER(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value),
	tfsim_pool_set(pool, (enum cudaMemPoolAttr)attr, value))

SIM_DRIVER(cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep),
	tfsim_pool_trim(pool, minBytesToKeep))
