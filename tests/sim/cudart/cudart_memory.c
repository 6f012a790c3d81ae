/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#define PITCH 512

cudaError_t cudaMalloc(void **ptr, size_t size)
{
	ENTER(cudaMalloc_v3020, ptr, size);
	return LEAVE(tfsim_malloc(ptr, size));
}

cudaError_t cudaFree(void *ptr)
{
	ENTER(cudaFree_v3020, ptr);
	cudart_need_context();
	return LEAVE(tfsim_free(ptr));
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
	ENTER(cudaMallocHost_v3020, ptr, size);
	cudart_need_context();
	return LEAVE(tfsim_host_alloc(ptr, size, cudaHostAllocDefault));
}

cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned flags)
{
	ENTER(cudaHostAlloc_v3020, ptr, size, flags);
	cudart_need_context();
	return LEAVE(tfsim_host_alloc(ptr, size, flags));
}

cudaError_t cudaFreeHost(void *ptr)
{
	ENTER(cudaFreeHost_v3020, ptr);
	return LEAVE(tfsim_host_free(ptr));
}

cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned flags)
{
	ENTER(cudaMallocManaged_v6000, ptr, size, flags);
	cudart_need_context();
	return LEAVE(tfsim_managed_alloc(ptr, size, flags));
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error = cudaErrorInvalidValue;
	ENTER(cudaMallocPitch_v3020, ptr, pitch, width, height);

	if (pitch) {
		*pitch = (width + PITCH - 1) / PITCH * PITCH;
		error = tfsim_malloc(ptr, *pitch * height);
	}
	return LEAVE(error);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *ptr, struct cudaExtent extent)
{
	cudaError_t error = cudaErrorInvalidValue;
	ENTER(cudaMalloc3D_v3020, ptr, extent);

	if (ptr) {
		ptr->pitch = (extent.width + PITCH - 1) / PITCH * PITCH;
		ptr->xsize = extent.width;
		ptr->ysize = extent.height;
		error = tfsim_malloc(&ptr->ptr, ptr->pitch * extent.height * extent.depth);
	}
	return LEAVE(error);
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned flags)
{
	ENTER(cudaHostRegister_v4000, ptr, size, flags);
	cudart_need_context();
	return LEAVE(tfsim_host_register(ptr, size, flags));
}

cudaError_t cudaHostUnregister(void *ptr)
{
	ENTER(cudaHostUnregister_v4000, ptr);
	return LEAVE(tfsim_host_unregister(ptr));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	struct tfsim_range range;
	cudaError_t error = cudaErrorInvalidValue;
	ENTER(cudaHostGetDevicePointer_v3020, device, host, flags);

	if (device && flags == 0 && tfsim_memory_find(host, &range) && range.kind == TFSIM_PINNED) {
		*device = host;
		error = cudaSuccess;
	}
	return LEAVE(error);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
	struct tfsim_range range;
	cudaError_t error = cudaErrorInvalidValue;
	ENTER(cudaHostGetFlags_v3020, flags, host);

	if (flags && tfsim_memory_find(host, &range) && range.kind == TFSIM_PINNED) {
		*flags = range.flags | cudaHostAllocMapped;
		error = cudaSuccess;
	}
	return LEAVE(error);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	ENTER(cudaMemGetInfo_v3020, available, total);
	cudart_need_context();
	return LEAVE(tfsim_memory_info(available, total));
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t count)
{
	ENTER(cudaMemcpyPeer_v4000, dst, dst_device, src, src_device, count);
	return LEAVE(tfsim_memcpy_peer(dst, dst_device, src, src_device, count, NULL, false));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
	size_t count, cudaStream_t stream)
{
	ENTER(cudaMemcpyPeerAsync_v4000, dst, dst_device, src, src_device, count, stream);
	return LEAVE(tfsim_memcpy_peer(dst, dst_device, src, src_device, count, stream, true));
}

cudaError_t cudaMemAdvise(const void *ptr, size_t count, enum cudaMemoryAdvise advice,
	struct cudaMemLocation location)
{
	ENTER(cudaMemAdvise_v12020, ptr, count, advice, location);
	return LEAVE(count && tfsim_memory_kind(ptr) == TFSIM_MANAGED ? cudaSuccess
								      : cudaErrorInvalidValue);
}

/* Plain host memory is no error since CUDA 11: its type is "unregistered". */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
	struct cudaPointerAttributes a = {.type = cudaMemoryTypeUnregistered, .device = -2};
	cudaError_t error = tfsim_sticky();
	struct tfsim_range range;
	ENTER(cudaPointerGetAttributes_v4000, attributes, ptr);

	if (error == cudaSuccess && !attributes)
		error = cudaErrorInvalidValue;
	if (error != cudaSuccess)
		return LEAVE(error);
	a.hostPointer = (void *)(uintptr_t)ptr;
	if (tfsim_memory_find(ptr, &range)) {
		a.device = range.device;
		a.type = range.kind == TFSIM_PINNED    ? cudaMemoryTypeHost
			 : range.kind == TFSIM_MANAGED ? cudaMemoryTypeManaged
						       : cudaMemoryTypeDevice;
		a.devicePointer = (void *)(uintptr_t)ptr;
		if (range.kind == TFSIM_DEVICE)
			a.hostPointer = NULL;
	}
	*attributes = a;
	return LEAVE(cudaSuccess);
}

/* A box of bytes as rows; arrays, and slices that do not follow each other, are not supported. */
cudaError_t cudart_flatten(const struct cudaMemcpy3DParms *p, struct cudart_box *out_box)
{
	if (!p)
		return cudaErrorInvalidValue;
	if (p->srcArray || p->dstArray ||
		(p->extent.depth > 1 && (p->srcPtr.ysize != p->extent.height ||
						p->dstPtr.ysize != p->extent.height))) {
		tfsim_not_supported("cudaMemcpy3D of arrays");
		return cudaErrorNotSupported;
	}
	*out_box = (struct cudart_box){
		.dst = (char *)p->dstPtr.ptr + p->dstPos.x +
		       (p->dstPos.y + p->dstPos.z * p->dstPtr.ysize) * p->dstPtr.pitch,
		.src = (const char *)p->srcPtr.ptr + p->srcPos.x +
		       (p->srcPos.y + p->srcPos.z * p->srcPtr.ysize) * p->srcPtr.pitch,
		.dst_pitch = p->dstPtr.pitch,
		.src_pitch = p->srcPtr.pitch,
		.width = p->extent.width,
		.height = p->extent.height * p->extent.depth,
	};
	return cudaSuccess;
}
