/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Memory in pieces: arrays, physical memory and the addresses it is mapped at. */

TFS_PLAIN_HOOK(CUresult, cuArrayCreate_v2, (CUarray * out, const CUDA_ARRAY_DESCRIPTOR_v2 *like),
	(out, like))
TFS_PLAIN_HOOK(CUresult, cuArray3DCreate_v2,
	(CUarray * out, const CUDA_ARRAY3D_DESCRIPTOR_v2 *like), (out, like))
TFS_PLAIN_HOOK(CUresult, cuMipmappedArrayCreate,
	(CUmipmappedArray * out, const CUDA_ARRAY3D_DESCRIPTOR_v2 *like, unsigned levels),
	(out, like, levels))
TFS_PLAIN_HOOK(CUresult, cuArrayDestroy, (CUarray array), (array))
TFS_PLAIN_HOOK(CUresult, cuMipmappedArrayDestroy, (CUmipmappedArray array), (array))
TFS_PLAIN_HOOK(CUresult, cuMemCreate,
	(CUmemGenericAllocationHandle * handle, size_t bytes, const CUmemAllocationProp *like,
		unsigned long long flags),
	(handle, bytes, like, flags))
TFS_PLAIN_HOOK(CUresult, cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
TFS_PLAIN_HOOK(CUresult, cuMemAddressReserve,
	(CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr near,
		unsigned long long flags),
	(address, bytes, alignment, near, flags))
TFS_PLAIN_HOOK(CUresult, cuMemAddressFree, (CUdeviceptr address, size_t bytes), (address, bytes))
TFS_PLAIN_HOOK(CUresult, cuMemSetAccess,
	(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count),
	(address, bytes, access, count))
TFS_PLAIN_HOOK(CUresult, cuMemExportToShareableHandle,
	(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
		unsigned long long flags),
	(out, handle, type, flags))
TFS_PLAIN_HOOK(CUresult, cuMemImportFromShareableHandle,
	(CUmemGenericAllocationHandle * handle, void *from, CUmemAllocationHandleType type),
	(handle, from, type))
TFS_PLAIN_HOOK(CUresult, cuMulticastCreate,
	(CUmemGenericAllocationHandle * multicast, const CUmulticastObjectProp *like),
	(multicast, like))
TFS_PLAIN_HOOK(CUresult, cuMulticastAddDevice,
	(CUmemGenericAllocationHandle multicast, CUdevice device), (multicast, device))
TFS_PLAIN_HOOK(CUresult, cuMulticastBindMem,
	(CUmemGenericAllocationHandle multicast, size_t multicast_offset,
		CUmemGenericAllocationHandle memory, size_t offset, size_t bytes,
		unsigned long long flags),
	(multicast, multicast_offset, memory, offset, bytes, flags))
TFS_PLAIN_HOOK(CUresult, cuMulticastBindAddr,
	(CUmemGenericAllocationHandle multicast, size_t multicast_offset, CUdeviceptr address,
		size_t bytes, unsigned long long flags),
	(multicast, multicast_offset, address, bytes, flags))
TFS_PLAIN_HOOK(CUresult, cuMulticastUnbind,
	(CUmemGenericAllocationHandle multicast, CUdevice device, size_t multicast_offset,
		size_t bytes),
	(multicast, device, multicast_offset, bytes))
TFS_PLAIN_HOOK(CUresult, cuIpcOpenMemHandle,
	(CUdeviceptr * out, CUipcMemHandle handle, unsigned flags), (out, handle, flags))
TFS_PLAIN_HOOK(CUresult, cuIpcOpenMemHandle_v2,
	(CUdeviceptr * out, CUipcMemHandle handle, unsigned flags), (out, handle, flags))
TFS_PLAIN_HOOK(CUresult, cuIpcCloseMemHandle, (CUdeviceptr address), (address))
TFS_PLAIN_HOOK(CUresult, cuMemAdvise,
	(CUdeviceptr address, size_t count, CUmem_advise advice, CUdevice device),
	(address, count, advice, device))
TFS_PLAIN_HOOK(CUresult, cuMemAdvise_v2,
	(CUdeviceptr address, size_t count, CUmem_advise advice, CUmemLocation location),
	(address, count, advice, location))

/* Here the memory gets its address, and loses it. */
TFS_HOOK(CUresult, cuMemMap,
	(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
		unsigned long long flags))
{
	struct tfs_frame frame = TFS_ENTER(cuMemMap);
	const CUresult status = TFS_REAL(cuMemMap)(address, bytes, offset, handle, flags);
	const bool good = status == CUDA_SUCCESS && frame.thread;

	tfs_note_alloc(&frame, status,
		(struct tfs_range){
			.address = good ? address : 0, .bytes = bytes, .kind = TFS_MEMORY_DEVICE});
	return status;
}

TFS_HOOK(CUresult, cuMemUnmap, (CUdeviceptr address, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cuMemUnmap);
	struct tfs_range was = {0};
	struct tfs_range next;

	tfs_memory_remove(address, &was);
	const CUresult status = TFS_REAL(cuMemUnmap)(address, bytes);
	/* What was mapped piece by piece may be unmapped as one. */
	for (uint64_t at = address + was.bytes;
		status == CUDA_SUCCESS && was.bytes > 0 && at < address + bytes &&
		tfs_memory_remove(at, &next);
		at += next.bytes)
		continue;
	tfs_note_free(&frame, status, (const void *)(uintptr_t)address, &was);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuArrayCreate, _v2, , 3020, alloc)                                                       \
	X(cuArray3DCreate, _v2, , 3020, alloc)                                                     \
	X(cuMipmappedArrayCreate, , , 5000, alloc)                                                 \
	X(cuArrayDestroy, , , 2000, free)                                                          \
	X(cuMipmappedArrayDestroy, , , 5000, free)                                                 \
	X(cuMemCreate, , , 10020, other)                                                           \
	X(cuMemRelease, , , 10020, other)                                                          \
	X(cuMemAddressReserve, , , 10020, other)                                                   \
	X(cuMemAddressFree, , , 10020, other)                                                      \
	X(cuMemSetAccess, , , 10020, other)                                                        \
	X(cuMemExportToShareableHandle, , , 10020, other)                                          \
	X(cuMemImportFromShareableHandle, , , 10020, other)                                        \
	X(cuMulticastCreate, , , 12010, other)                                                     \
	X(cuMulticastAddDevice, , , 12010, other)                                                  \
	X(cuMulticastBindMem, , , 12010, other)                                                    \
	X(cuMulticastBindAddr, , , 12010, other)                                                   \
	X(cuMulticastUnbind, , , 12010, other)                                                     \
	X(cuIpcOpenMemHandle, , , 4010, other)                                                     \
	X(cuIpcOpenMemHandle, _v2, , 11000, other)                                                 \
	X(cuIpcCloseMemHandle, , , 4010, other)                                                    \
	X(cuMemAdvise, , , 8000, other)                                                            \
	X(cuMemAdvise, _v2, , 12020, other)                                                        \
	X(cuMemMap, , , 10020, alloc)                                                              \
	X(cuMemUnmap, , , 10020, free)

FUNCTIONS(TFS_DRIVER_ROW)
