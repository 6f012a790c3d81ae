/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cudart/cudart_batch.h"

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/*
 * Functions whose parameters CUDA 13 changed. cuda_runtime_api.h is left out: they are declared
 * with all words that any version uses, and passed on so. What is behind the words of CUDA 13 is
 * the caller's own stack.
 */

#define CUDA_13 13000

/* Of the runtime in use; 0 when it cannot be asked. */
static int version_now(void)
{
	cudaError_t (*const get)(int *) =
		(__typeof__(get))tfs_direct(TFS_DIRECT_cudaRuntimeGetVersion);
	int version = 0;

	return tfs_lookup_steady(TFS_LIBRARY_cudart) && get && get(&version) == cudaSuccess
		       ? version
		       : 0;
}

/* The stream is in the first of two words since CUDA 13, before that in the second. */
static uint16_t stream_of(uintptr_t now, uintptr_t before, bool per_thread)
{
	return tfs_stream_id((const void *)(version_now() >= CUDA_13 ? now : before), per_thread);
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpyBatchAsync, _ptsz,
	(void *const *targets, void *const *sources, const size_t *sizes, size_t count,
		void *attributes, size_t *from, size_t attribute_count, uintptr_t eighth,
		uintptr_t ninth),
	(targets, sources, sizes, count, attributes, from, attribute_count, eighth, ninth))
{
	for (size_t i = 0; tfs_blocks_any() && targets && sources && i < count; i++)
		tfs_blocks_given(targets[i], sources[i]);
	const cudaError_t status = TFS_TWIN_REAL(cudaMemcpyBatchAsync)(
		targets, sources, sizes, count, attributes, from, attribute_count, eighth, ninth);
	size_t bytes = 0;

	count = status == cudaSuccess ? count : 0;
	for (size_t i = 0; i < count; i++)
		bytes += sizes[i];
	if (TFS_END(&frame, status, bytes)) {
		struct tfs_details details;

		tfs_details_init(&details, stream_of(eighth, ninth, per_thread));
		for (size_t i = 0; i < count; i++)
			tfs_put_copy(&details, targets[i], sources[i], sizes[i], cudaMemcpyDefault);
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

static const void *address_of(const struct cudaMemcpy3DOperand *operand)
{
	return operand->type == cudaMemcpyOperandTypePointer ? operand->op.ptr.ptr : NULL;
}

/* Of an array, elements count as bytes: how large they are is not said here. */
static size_t bytes_of(const struct cudaMemcpy3DBatchOp *copy)
{
	return copy->extent.width * copy->extent.height * copy->extent.depth;
}

void tfs_cudart_note_batch_3d(struct tfs_frame *frame, cudaError_t status,
	const struct cudaMemcpy3DBatchOp *copies, size_t count, uint16_t stream)
{
	size_t bytes = 0;

	count = status == cudaSuccess ? count : 0;
	for (size_t i = 0; i < count; i++)
		bytes += bytes_of(&copies[i]);
	if (TFS_END(frame, status, bytes)) {
		struct tfs_details details;

		tfs_details_init(&details, stream);
		for (size_t i = 0; i < count; i++)
			tfs_put_copy(&details, address_of(&copies[i].dst),
				address_of(&copies[i].src), bytes_of(&copies[i]),
				cudaMemcpyDefault);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy3DBatchAsync, _ptsz,
	(size_t count, struct cudaMemcpy3DBatchOp *copies, uintptr_t third, uintptr_t fourth,
		uintptr_t fifth),
	(count, copies, third, fourth, fifth))
{
	const cudaError_t status =
		TFS_TWIN_REAL(cudaMemcpy3DBatchAsync)(count, copies, third, fourth, fifth);

	tfs_cudart_note_batch_3d(
		&frame, status, copies, count, stream_of(fourth, fifth, per_thread));
	return status;
}

/* Before CUDA 13 the device's number was third, and the stream fourth. */
TFS_TWIN_HOOKS(cudaError_t, cudaMemPrefetchAsync, _ptsz,
	(const void *address, size_t bytes, uintptr_t place, uintptr_t fourth, uintptr_t fifth),
	(address, bytes, place, fourth, fifth))
{
	tfs_blocks_given(address, NULL);
	const cudaError_t status =
		TFS_TWIN_REAL(cudaMemPrefetchAsync)(address, bytes, place, fourth, fifth);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, stream_of(fifth, fourth, per_thread));
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

/* What CUDA 12 calls what is above. */
TFS_TWIN_HOOKS(cudaError_t, cudaMemPrefetchAsync_v2, _ptsz,
	(const void *address, size_t bytes, uintptr_t place, uintptr_t flags, cudaStream_t stream),
	(address, bytes, place, flags, stream))
{
	tfs_blocks_given(address, NULL);
	const cudaError_t status =
		TFS_TWIN_REAL(cudaMemPrefetchAsync_v2)(address, bytes, place, flags, stream);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

#define ADVISE(name)                                                                               \
	TFS_HOOK(cudaError_t, name,                                                                \
		(const void *address, size_t bytes, uintptr_t advice, uintptr_t place))            \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
                                                                                                   \
		tfs_blocks_given(address, NULL);                                                   \
		const cudaError_t status = TFS_REAL(name)(address, bytes, advice, place);          \
		tfs_hook_plain(&frame, (uint32_t)status);                                          \
		return status;                                                                     \
	}

ADVISE(cudaMemAdvise)
ADVISE(cudaMemAdvise_v2)

#define FUNCTIONS(X)                                                                               \
	X(cudaMemcpyBatchAsync, copy_async)                                                        \
	X(cudaMemcpyBatchAsync_ptsz, copy_async)                                                   \
	X(cudaMemcpy3DBatchAsync, copy_async)                                                      \
	X(cudaMemcpy3DBatchAsync_ptsz, copy_async)                                                 \
	X(cudaMemPrefetchAsync, other)                                                             \
	X(cudaMemPrefetchAsync_ptsz, other)                                                        \
	X(cudaMemPrefetchAsync_v2, other)                                                          \
	X(cudaMemPrefetchAsync_v2_ptsz, other)                                                     \
	X(cudaMemAdvise, other)                                                                    \
	X(cudaMemAdvise_v2, other)

FUNCTIONS(TFS_FUNCTION_ROW)
