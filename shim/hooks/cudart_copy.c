/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "rules/rewrites/rewrite.h"
#include "shim/hook.h"
#include "shim/memory.h"
#include "shim/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* What the registry knows about an address; the direction tells host from device where it does
 * not, because device memory may come from a library or another process. */
static uint32_t memory_kind(const void *address, bool device_side)
{
	struct tfs_range range;

	if (tfs_memory_find((uint64_t)(uintptr_t)address, &range))
		return range.kind;
	return device_side ? TFS_MEMORY_DEVICE : TFS_MEMORY_HOST;
}

/* Lets a rewrite carry out a plain copy; false = it is the real function's. */
static bool take_copy(
	const struct tfs_frame *frame, const struct tfs_copy_call *call, cudaError_t *out_status)
{
	uint32_t status;

	if (TFS_LIKELY(__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) == 0) ||
		frame->thread == NULL || !tfs_rewrite_copy(call, &status))
		return false;
	*out_status = (cudaError_t)status;
	return true;
}

static uint32_t site_of(const struct tfs_frame *frame)
{
	return frame->thread != NULL ? frame->entry->site : 0;
}

static void note_copy(struct tfs_frame *frame, const void *target, const void *source, size_t bytes,
	enum cudaMemcpyKind kind, uint16_t stream)
{
	const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	struct tfs_details details;

	tfs_details_init(&details, stream);
	tfs_put(&details, (uint64_t)(uintptr_t)target,
		TFS_ITEM(TFS_ROLE_WRITE | TFS_ROLE_MEMORY(memory_kind(target, to_device)), bytes) |
			TFS_ITEM_COPY(kind));
	tfs_put_operand(&details, source, bytes,
		TFS_ROLE_READ | TFS_ROLE_MEMORY(memory_kind(source, from_device)));
	tfs_hook_details(frame, &details);
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy, _ptds,
	(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind),
	(target, source, bytes, kind))
{
	const struct tfs_copy_call call = {.target = target,
		.source = source,
		.bytes = bytes,
		.kind = (int)kind,
		.per_thread = per_thread,
		.site = site_of(&frame)};
	cudaError_t status;

	if (!take_copy(&frame, &call, &status))
		status = TFS_TWIN_REAL(cudaMemcpy)(target, source, bytes, kind);
	if (TFS_END(&frame, status, bytes))
		note_copy(&frame, target, source, bytes, kind, tfs_stream_id(NULL, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpyAsync, _ptsz,
	(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind,
		cudaStream_t stream),
	(target, source, bytes, kind, stream))
{
	const struct tfs_copy_call call = {.target = target,
		.source = source,
		.bytes = bytes,
		.kind = (int)kind,
		.stream = stream,
		.per_thread = per_thread,
		.async = true,
		.site = site_of(&frame)};
	cudaError_t status;

	if (!take_copy(&frame, &call, &status))
		status = TFS_TWIN_REAL(cudaMemcpyAsync)(target, source, bytes, kind, stream);
	if (TFS_END(&frame, status, bytes))
		note_copy(&frame, target, source, bytes, kind, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy2D, _ptds,
	(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind),
	(target, target_pitch, source, source_pitch, width, height, kind))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaMemcpy2D)(
		target, target_pitch, source, source_pitch, width, height, kind);

	if (TFS_END(&frame, status, width * height))
		note_copy(&frame, target, source, width * height, kind,
			tfs_stream_id(NULL, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy2DAsync, _ptsz,
	(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	(target, target_pitch, source, source_pitch, width, height, kind, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaMemcpy2DAsync)(
		target, target_pitch, source, source_pitch, width, height, kind, stream);

	if (TFS_END(&frame, status, width * height))
		note_copy(&frame, target, source, width * height, kind,
			tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

static void note_set(
	struct tfs_frame *frame, const void *target, int value, size_t bytes, uint16_t stream)
{
	struct tfs_details details;

	tfs_details_init(&details, stream);
	tfs_put_operand(&details, target, bytes,
		TFS_ROLE_WRITE | TFS_ROLE_MEMORY(memory_kind(target, true)));
	tfs_put_attribute(&details, TFS_ATTRIBUTE_value, (uint32_t)value);
	tfs_hook_details(frame, &details);
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemset, _ptds, (void *target, int value, size_t bytes),
	(target, value, bytes))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaMemset)(target, value, bytes);

	if (TFS_END(&frame, status, bytes))
		note_set(&frame, target, value, bytes, tfs_stream_id(NULL, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemsetAsync, _ptsz,
	(void *target, int value, size_t bytes, cudaStream_t stream),
	(target, value, bytes, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaMemsetAsync)(target, value, bytes, stream);

	if (TFS_END(&frame, status, bytes))
		note_set(&frame, target, value, bytes, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaMemcpy, copy)                                                                        \
	X(cudaMemcpy_ptds, copy)                                                                   \
	X(cudaMemcpyAsync, copy_async)                                                             \
	X(cudaMemcpyAsync_ptsz, copy_async)                                                        \
	X(cudaMemcpy2D, copy)                                                                      \
	X(cudaMemcpy2D_ptds, copy)                                                                 \
	X(cudaMemcpy2DAsync, copy_async)                                                           \
	X(cudaMemcpy2DAsync_ptsz, copy_async)                                                      \
	X(cudaMemset, set)                                                                         \
	X(cudaMemset_ptds, set)                                                                    \
	X(cudaMemsetAsync, set_async)                                                              \
	X(cudaMemsetAsync_ptsz, set_async)

TFS_FAMILY(cudart_copy, FUNCTIONS);
