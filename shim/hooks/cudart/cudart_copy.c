/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cuda_runtime_api.h>

#include "shim/hooks/copy.h"
#include "shim/hooks/fill.h"
#include "shim/rewrites/fills.h"
#include "shim/rewrites/memory/blocks.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Before a plain copy: says what memory it works on. */
static inline void tell(struct tfs_frame *frame, void *target, const void *source, size_t bytes,
	void *stream, bool per_thread)
{
	struct tfs_use use;

	if (!tfs_fills_followed(frame))
		return;
	struct tfs_use_call call = {.output = target,
		.output_bytes = bytes,
		.stream = !stream && per_thread ? cudaStreamPerThread : stream,
		.site = frame->entry->site};
	tfs_use_reads(&call, source, bytes);
	tfs_use_init(&use, NULL, target);
	tfs_rewrite_use(&call, &use);
}

TFS_COPYING_TWIN_HOOKS(cudaError_t, cudaMemcpy, _ptds,
	(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind),
	(target, source, bytes, kind))
{
	struct tfs_copy_call call = {.target = target,
		.source = source,
		.bytes = bytes,
		.kind = (int)kind,
		.per_thread = per_thread,
		.real = real};
	bool taken = false;
	uint32_t status;

	tfs_blocks_given(target, source);
	if (TFS_UNLIKELY((frame.wanted & (TFS_WANT_FILLS | TFS_WANT_COPIES)) != 0)) {
		tell(&frame, target, source, bytes, NULL, per_thread);
		taken = tfs_take_copy(&frame, call, &status);
	}
	if (!taken)
		status = TFS_TWIN_REAL(cudaMemcpy)(target, source, bytes, kind);
	tfs_end_copy(&frame, call, status);
	return (cudaError_t)status;
}

TFS_COPYING_TWIN_HOOKS(cudaError_t, cudaMemcpyAsync, _ptsz,
	(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind,
		cudaStream_t stream),
	(target, source, bytes, kind, stream))
{
	struct tfs_copy_call call = {.target = target,
		.source = source,
		.bytes = bytes,
		.kind = (int)kind,
		.stream = stream,
		.per_thread = per_thread,
		.async = true,
		.real = real};
	bool taken = false;
	uint32_t status;

	tfs_blocks_given(target, source);
	if (TFS_UNLIKELY((frame.wanted & (TFS_WANT_FILLS | TFS_WANT_COPIES)) != 0)) {
		tell(&frame, target, source, bytes, stream, per_thread);
		taken = tfs_take_copy(&frame, call, &status);
	}
	if (!taken)
		status = TFS_TWIN_REAL(cudaMemcpyAsync)(target, source, bytes, kind, stream);
	tfs_end_copy(&frame, call, status);
	return (cudaError_t)status;
}

/* Since CUDA 13.2. */
TFS_TWIN_HOOKS(cudaError_t, cudaMemcpyWithAttributesAsync, _ptsz,
	(void *target, const void *source, size_t bytes, struct cudaMemcpyAttributes *with,
		cudaStream_t stream),
	(target, source, bytes, with, stream))
{
	tfs_blocks_given(target, source);
	const cudaError_t status =
		TFS_TWIN_REAL(cudaMemcpyWithAttributesAsync)(target, source, bytes, with, stream);

	if (TFS_END(&frame, status, bytes))
		tfs_note_copy(&frame, target, source, bytes, cudaMemcpyDefault,
			tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy2D, _ptds,
	(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind),
	(target, target_pitch, source, source_pitch, width, height, kind))
{
	tfs_blocks_given(target, source);
	const cudaError_t status = TFS_TWIN_REAL(cudaMemcpy2D)(
		target, target_pitch, source, source_pitch, width, height, kind);

	if (TFS_END(&frame, status, width * height))
		tfs_note_copy(&frame, target, source, width * height, kind,
			tfs_stream_id(NULL, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy2DAsync, _ptsz,
	(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	(target, target_pitch, source, source_pitch, width, height, kind, stream))
{
	tfs_blocks_given(target, source);
	const cudaError_t status = TFS_TWIN_REAL(cudaMemcpy2DAsync)(
		target, target_pitch, source, source_pitch, width, height, kind, stream);

	if (TFS_END(&frame, status, width * height))
		tfs_note_copy(&frame, target, source, width * height, kind,
			tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_FILL_HOOKS(cudaError_t, cudaMemset, _ptds, (void *target, int value, size_t bytes),
	(target, value, bytes), NULL, target, bytes, (uint32_t)value, false, false)
TFS_FILL_HOOKS(cudaError_t, cudaMemsetAsync, _ptsz,
	(void *target, int value, size_t bytes, cudaStream_t stream),
	(target, value, bytes, stream), stream, target, bytes, (uint32_t)value, false, false)

#define FUNCTIONS(X)                                                                               \
	X(cudaMemcpy, copy)                                                                        \
	X(cudaMemcpy_ptds, copy)                                                                   \
	X(cudaMemcpyAsync, copy_async)                                                             \
	X(cudaMemcpyAsync_ptsz, copy_async)                                                        \
	X(cudaMemcpyWithAttributesAsync, copy_async)                                               \
	X(cudaMemcpyWithAttributesAsync_ptsz, copy_async)                                          \
	X(cudaMemcpy2D, copy)                                                                      \
	X(cudaMemcpy2D_ptds, copy)                                                                 \
	X(cudaMemcpy2DAsync, copy_async)                                                           \
	X(cudaMemcpy2DAsync_ptsz, copy_async)                                                      \
	X(cudaMemset, set)                                                                         \
	X(cudaMemset_ptds, set)                                                                    \
	X(cudaMemsetAsync, set_async)                                                              \
	X(cudaMemsetAsync_ptsz, set_async)

FUNCTIONS(TFS_FUNCTION_ROW)
