/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "rules/rewrites/rewrite.h"
#include "shim/hook.h"
#include "shim/notes.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

static uint32_t device_now(void)
{
	static cudaError_t (*get)(int *);
	int device = 0;

	if (!tfs_lookup_steady(TFS_LIBRARY_cudart))
		return 0;
	if (get == NULL)
		get = (cudaError_t(*)(int *))tfs_lookup_named(TFS_LIBRARY_cudart, "cudaGetDevice");
	/* Cannot fail after a call that succeeded, so the program's last error stays its own. */
	return get != NULL && get(&device) == cudaSuccess ? (uint32_t)device : 0;
}

static void note_alloc(struct tfs_frame *frame, cudaError_t status, const void *address,
	size_t bytes, enum tfs_memory_kind kind, uint32_t flags)
{
	const bool good = status == cudaSuccess && frame->thread != NULL;

	tfs_note_alloc(frame, status,
		(struct tfs_range){
			.address = good ? (uint64_t)(uintptr_t)address : 0,
			.bytes = bytes,
			.kind = kind,
			.device = good && kind == TFS_MEMORY_DEVICE ? device_now() : 0,
			.flags = flags,
		});
}

TFS_HOOK(cudaError_t, cudaMalloc, (void **out, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cudaMalloc);
	const cudaError_t status = TFS_REAL(cudaMalloc)(out, bytes);

	note_alloc(
		&frame, status, status == cudaSuccess ? *out : NULL, bytes, TFS_MEMORY_DEVICE, 0);
	return status;
}

TFS_HOOK(cudaError_t, cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height))
{
	struct tfs_frame frame = TFS_ENTER(cudaMallocPitch);
	const cudaError_t status = TFS_REAL(cudaMallocPitch)(out, pitch, width, height);
	const bool good = status == cudaSuccess;

	note_alloc(&frame, status, good ? *out : NULL, good ? *pitch * height : 0,
		TFS_MEMORY_DEVICE, 0);
	return status;
}

TFS_HOOK(cudaError_t, cudaMallocManaged, (void **out, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaMallocManaged);
	const cudaError_t status = TFS_REAL(cudaMallocManaged)(out, bytes, flags);

	note_alloc(&frame, status, status == cudaSuccess ? *out : NULL, bytes, TFS_MEMORY_MANAGED,
		TFS_RANGE_MAPPED);
	return status;
}

TFS_HOOK(cudaError_t, cudaFree, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cudaFree);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const cudaError_t status = TFS_REAL(cudaFree)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

TFS_HOOK(cudaError_t, cudaMallocHost, (void **out, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cudaMallocHost);
	const cudaError_t status = TFS_REAL(cudaMallocHost)(out, bytes);

	note_alloc(&frame, status, status == cudaSuccess ? *out : NULL, bytes, TFS_MEMORY_PINNED,
		TFS_RANGE_MAPPED);
	return status;
}

TFS_HOOK(cudaError_t, cudaHostAlloc, (void **out, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaHostAlloc);
	const cudaError_t status = TFS_REAL(cudaHostAlloc)(out, bytes, flags);

	note_alloc(&frame, status, status == cudaSuccess ? *out : NULL, bytes, TFS_MEMORY_PINNED,
		TFS_RANGE_MAPPED);
	return status;
}

TFS_HOOK(cudaError_t, cudaFreeHost, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cudaFreeHost);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const cudaError_t status = TFS_REAL(cudaFreeHost)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

TFS_HOOK(cudaError_t, cudaHostRegister, (void *address, size_t bytes, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaHostRegister);
	const cudaError_t status = TFS_REAL(cudaHostRegister)(address, bytes, flags);

	note_alloc(&frame, status, address, bytes, TFS_MEMORY_PINNED,
		TFS_RANGE_MAPPED | TFS_RANGE_REGISTERED);
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

TFS_TWIN_HOOKS(cudaError_t, cudaMallocAsync, _ptsz, (void **out, size_t bytes, cudaStream_t stream),
	(out, bytes, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaMallocAsync)(out, bytes, stream);

	(void)per_thread;
	note_alloc(&frame, status, status == cudaSuccess ? *out : NULL, bytes, TFS_MEMORY_DEVICE,
		TFS_RANGE_ORDERED);
	return status;
}

TFS_TWIN_HOOKS(
	cudaError_t, cudaFreeAsync, _ptsz, (void *address, cudaStream_t stream), (address, stream))
{
	struct tfs_range was = {0};

	(void)per_thread;
	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const cudaError_t status = TFS_TWIN_REAL(cudaFreeAsync)(address, stream);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

TFS_HOOK(cudaError_t, cudaDeviceReset, (void))
{
	struct tfs_frame frame = TFS_ENTER(cudaDeviceReset);
	const cudaError_t status = TFS_REAL(cudaDeviceReset)();

	if (frame.thread != NULL && status == cudaSuccess) {
		const uint32_t device = device_now();

		tfs_memory_reset(device);
		tfs_rewrite_reset(device);
	}
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_PLAIN_HOOK(cudaError_t, cudaMemGetInfo, (size_t * free_bytes, size_t *all), (free_bytes, all))

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
	X(cudaMallocAsync, alloc_async)                                                            \
	X(cudaMallocAsync_ptsz, alloc_async)                                                       \
	X(cudaFreeAsync, free_async)                                                               \
	X(cudaFreeAsync_ptsz, free_async)                                                          \
	X(cudaDeviceReset, reset)                                                                  \
	X(cudaMemGetInfo, property)

TFS_FAMILY(cudart_memory, FUNCTIONS);
