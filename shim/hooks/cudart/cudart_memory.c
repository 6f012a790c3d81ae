/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/rewrite.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

TFS_ALLOC_HOOK(cudaError_t, cudaMalloc, void *)

TFS_HOOK(cudaError_t, cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height))
{
	struct tfs_frame frame = TFS_ENTER(cudaMallocPitch);
	cudaError_t status;

	tfs_before_alloc(width * height, false, TFS_BY_DRIVER);
	do
		status = TFS_REAL(cudaMallocPitch)(out, pitch, width, height);
	while (tfs_make_room(status, TFS_BY_DRIVER));
	tfs_end_alloc(&frame, status, out, status == cudaSuccess ? *pitch * height : 0,
		TFS_MEMORY_DEVICE, 0, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(cudaError_t, cudaMallocManaged, (void **out, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaMallocManaged);
	const cudaError_t status = TFS_REAL(cudaMallocManaged)(out, bytes, flags);

	tfs_end_alloc(
		&frame, status, out, bytes, TFS_MEMORY_MANAGED, TFS_RANGE_MAPPED, TFS_BY_DRIVER);
	return status;
}

TFS_FREE_HOOK(cudaError_t, cudaFree, void *)

TFS_HOOK(cudaError_t, cudaMallocHost, (void **out, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cudaMallocHost);
	const cudaError_t status = TFS_REAL(cudaMallocHost)(out, bytes);

	tfs_tell(&frame, TFS_OP_PINNED);
	tfs_end_alloc(
		&frame, status, out, bytes, TFS_MEMORY_PINNED, TFS_RANGE_MAPPED, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(cudaError_t, cudaHostAlloc, (void **out, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaHostAlloc);
	const cudaError_t status = TFS_REAL(cudaHostAlloc)(out, bytes, flags);

	tfs_tell(&frame, TFS_OP_PINNED);
	tfs_end_alloc(
		&frame, status, out, bytes, TFS_MEMORY_PINNED, TFS_RANGE_MAPPED, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(cudaError_t, cudaFreeHost, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cudaFreeHost);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	tfs_tell(&frame, TFS_OP_PINNED);
	const cudaError_t status = TFS_REAL(cudaFreeHost)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

TFS_HOOK(cudaError_t, cudaHostRegister, (void *address, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaHostRegister);
	const cudaError_t status = TFS_REAL(cudaHostRegister)(address, bytes, flags);

	tfs_end_alloc(&frame, status, &address, bytes, TFS_MEMORY_PINNED,
		TFS_RANGE_MAPPED | TFS_RANGE_REGISTERED, TFS_BY_DRIVER);
	return status;
}

TFS_HOOK(cudaError_t, cudaHostUnregister, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cudaHostUnregister);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const cudaError_t status = TFS_REAL(cudaHostUnregister)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

static cudaError_t reset(struct tfs_frame *frame, cudaError_t (*real)(void))
{
	const uint32_t device = tfs_cudart_device();
	const struct tfs_blocks_end end = tfs_blocks_ending(device, NULL);

	tfs_reserves_drop(false, device);
	const cudaError_t status = real();
	tfs_blocks_ended(&end, status == cudaSuccess);
	if (frame->thread && status == cudaSuccess) {
		tfs_memory_reset(device);
		tfs_rewrite_tell(&(struct tfs_op){.kind = TFS_OP_RESET, .device = device});
	}
	tfs_hook_plain(frame, (uint32_t)status);
	return status;
}

TFS_HOOK(cudaError_t, cudaDeviceReset, (void))
{
	struct tfs_frame frame = TFS_ENTER(cudaDeviceReset);

	return reset(&frame, TFS_REAL(cudaDeviceReset));
}

/* Its name before CUDA 13. */
TFS_HOOK(cudaError_t, cudaThreadExit, (void))
{
	struct tfs_frame frame = TFS_ENTER(cudaThreadExit);

	return reset(&frame, TFS_REAL(cudaThreadExit));
}

TFS_HOOK(cudaError_t, cudaMemGetInfo, (size_t * free_bytes, size_t *all))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemGetInfo);

	const uint64_t held =
		TFS_UNLIKELY(tfs_held_any()) ? tfs_held_bytes(false, tfs_cudart_device()) : 0;
	const cudaError_t status = TFS_REAL(cudaMemGetInfo)(free_bytes, all);

	if (status == cudaSuccess && free_bytes)
		*free_bytes += held;
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_HOOK(cudaError_t, cudaPointerGetAttributes,
	(struct cudaPointerAttributes * attributes, const void *address))
{
	struct tfs_frame frame = TFS_ENTER(cudaPointerGetAttributes);

	tfs_blocks_given(address, NULL);
	const cudaError_t status = TFS_REAL(cudaPointerGetAttributes)(attributes, address);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

/* Whether or not it succeeds: from here on the block is not ours to keep. */
TFS_HOOK(cudaError_t, cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *address))
{
	struct tfs_frame frame = TFS_ENTER(cudaIpcGetMemHandle);

	tfs_blocks_given(address, NULL);
	const cudaError_t status = TFS_REAL(cudaIpcGetMemHandle)(handle, address);

	tfs_memory_mark((uint64_t)(uintptr_t)address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaMalloc, alloc)                                                                       \
	X(cudaMallocPitch, alloc)                                                                  \
	X(cudaMallocManaged, alloc)                                                                \
	X(cudaFree, free)                                                                          \
	X(cudaMallocHost, host_alloc)                                                              \
	X(cudaHostAlloc, host_alloc)                                                               \
	X(cudaFreeHost, host_free)                                                                 \
	X(cudaHostRegister, host_register)                                                         \
	X(cudaHostUnregister, host_unregister)                                                     \
	X(cudaDeviceReset, reset)                                                                  \
	X(cudaThreadExit, reset)                                                                   \
	X(cudaMemGetInfo, property)                                                                \
	X(cudaPointerGetAttributes, other)                                                         \
	X(cudaIpcGetMemHandle, other)

FUNCTIONS(TFS_FUNCTION_ROW)
