/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/cudart.h"
#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/pools.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Lets a rewrite mind the call. */
static void before_ordered(const struct tfs_frame *frame, struct tfs_ordered_call *call)
{
	tfs_cudart_before_alloc(call->bytes, true);
	if (TFS_LIKELY((__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) &
			       TFS_TAKES_ORDERED) == 0) ||
		frame->thread == NULL)
		return;
	call->device = tfs_cudart_device();
	call->site = frame->entry->site;
	tfs_rewrite_ordered(call);
}

static void after_ordered(struct tfs_frame *frame, struct tfs_ordered_call *call,
	cudaError_t status, const void *address)
{
	const bool good = status == cudaSuccess && frame->thread != NULL;
	const struct tfs_pool_functions *use =
		good && frame->wanted != 0 ? tfs_pool_functions(false) : NULL;
	struct tfs_pool_known known = {0};
	void *pool = call->pool;

	if (call->start_ns != 0)
		tfs_rewrite_ordered_done(call, (uint32_t)status);
	const uint32_t device = good ? tfs_cudart_device() : 0;
	/* Cannot fail after an allocation that succeeded, so the program's last error is its own.
	 */
	if (use != NULL && (pool != NULL || use->current(&pool, (int)device) == 0))
		tfs_pools_find(pool, &known);
	tfs_note_ordered(frame, status,
		(struct tfs_range){
			.address = good ? (uint64_t)(uintptr_t)address : 0,
			.bytes = call->bytes,
			.kind = TFS_MEMORY_DEVICE,
			.device = device,
			.flags = TFS_RANGE_ORDERED,
		},
		known.keeps);
}

TFS_TWIN_HOOKS(cudaError_t, cudaMallocAsync, _ptsz, (void **out, size_t bytes, cudaStream_t stream),
	(out, bytes, stream))
{
	struct tfs_ordered_call call = {.bytes = bytes};
	cudaError_t status;

	(void)per_thread;
	before_ordered(&frame, &call);
	do
		status = TFS_TWIN_REAL(cudaMallocAsync)(out, bytes, stream);
	while (tfs_cudart_make_room(status));
	after_ordered(&frame, &call, status, status == cudaSuccess ? *out : NULL);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMallocFromPoolAsync, _ptsz,
	(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	(out, bytes, pool, stream))
{
	struct tfs_ordered_call call = {.pool = pool, .bytes = bytes};
	cudaError_t status;

	(void)per_thread;
	before_ordered(&frame, &call);
	do
		status = TFS_TWIN_REAL(cudaMallocFromPoolAsync)(out, bytes, pool, stream);
	while (tfs_cudart_make_room(status));
	after_ordered(&frame, &call, status, status == cudaSuccess ? *out : NULL);
	return status;
}

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
