/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/rewrite.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

TFS_ALLOC_HOOK(CUresult, cuMemAlloc_v2, CUdeviceptr)

TFS_HOOK(CUresult, cuMemAllocPitch_v2,
	(CUdeviceptr * out, size_t *pitch, size_t width, size_t height, unsigned element))
{
	struct tfs_frame frame = TFS_ENTER(cuMemAllocPitch_v2);
	CUresult status;

	tfs_before_alloc(width * height, false, TFS_BY_DRIVER);
	do
		status = TFS_REAL(cuMemAllocPitch_v2)(out, pitch, width, height, element);
	while (tfs_make_room(status, TFS_BY_DRIVER));
	tfs_end_alloc(&frame, status, out, status == CUDA_SUCCESS ? *pitch * height : 0,
		TFS_MEMORY_DEVICE, 0, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(CUresult, cuMemAllocManaged, (CUdeviceptr * out, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuMemAllocManaged);
	const CUresult status = TFS_REAL(cuMemAllocManaged)(out, bytes, flags);

	tfs_end_alloc(
		&frame, status, out, bytes, TFS_MEMORY_MANAGED, TFS_RANGE_MAPPED, TFS_BY_DRIVER);
	return status;
}

TFS_FREE_HOOK(CUresult, cuMemFree_v2, CUdeviceptr)

TFS_HOOK(CUresult, cuMemAllocHost_v2, (void **out, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cuMemAllocHost_v2);
	const CUresult status = TFS_REAL(cuMemAllocHost_v2)(out, bytes);

	tfs_tell(&frame, TFS_OP_PINNED);
	tfs_end_alloc(
		&frame, status, out, bytes, TFS_MEMORY_PINNED, TFS_RANGE_MAPPED, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(CUresult, cuMemHostAlloc, (void **out, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuMemHostAlloc);
	const CUresult status = TFS_REAL(cuMemHostAlloc)(out, bytes, flags);

	tfs_tell(&frame, TFS_OP_PINNED);
	tfs_end_alloc(
		&frame, status, out, bytes, TFS_MEMORY_PINNED, TFS_RANGE_MAPPED, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(CUresult, cuMemFreeHost, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cuMemFreeHost);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	tfs_tell(&frame, TFS_OP_PINNED);
	const CUresult status = TFS_REAL(cuMemFreeHost)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

TFS_HOOK(CUresult, cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuMemHostRegister_v2);
	const CUresult status = TFS_REAL(cuMemHostRegister_v2)(address, bytes, flags);

	tfs_end_alloc(&frame, status, &address, bytes, TFS_MEMORY_PINNED,
		TFS_RANGE_MAPPED | TFS_RANGE_REGISTERED, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(CUresult, cuMemHostUnregister, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cuMemHostUnregister);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const CUresult status = TFS_REAL(cuMemHostUnregister)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

TFS_HOOK(CUresult, cuMemGetInfo_v2, (size_t * free_bytes, size_t *all))
{
	struct tfs_frame frame = TFS_ENTER(cuMemGetInfo_v2);

	const uint64_t held =
		TFS_UNLIKELY(tfs_held_any()) ? tfs_held_bytes(true, tfs_cuda_device()) : 0;
	const CUresult status = TFS_REAL(cuMemGetInfo_v2)(free_bytes, all);

	if (status == CUDA_SUCCESS && free_bytes)
		*free_bytes += held;
	tfs_hook_plain(&frame, status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuMemAlloc, _v2, , 3020, alloc)                                                          \
	X(cuMemAllocPitch, _v2, , 3020, alloc)                                                     \
	X(cuMemAllocManaged, , , 6000, alloc)                                                      \
	X(cuMemFree, _v2, , 3020, free)                                                            \
	X(cuMemAllocHost, _v2, , 3020, host_alloc)                                                 \
	X(cuMemHostAlloc, , , 2020, host_alloc)                                                    \
	X(cuMemFreeHost, , , 2000, host_free)                                                      \
	X(cuMemHostRegister, _v2, , 6050, host_register)                                           \
	X(cuMemHostUnregister, , , 4000, host_unregister)                                          \
	X(cuMemGetInfo, _v2, , 3020, property)

FUNCTIONS(TFS_DRIVER_ROW)
