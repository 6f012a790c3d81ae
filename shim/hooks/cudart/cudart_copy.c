/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cuda_runtime_api.h>

#include "shim/hooks/copy.h"
#include "shim/hooks/fill.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

TFS_COPY_HOOKS(cudaError_t, cudaMemcpy, _ptds,
	(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind),
	(target, source, bytes, kind), NULL, target, source, bytes, (int)kind, false)
TFS_COPY_HOOKS(cudaError_t, cudaMemcpyAsync, _ptsz,
	(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind,
		cudaStream_t stream),
	(target, source, bytes, kind, stream), stream, target, source, bytes, (int)kind, true)

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

/* A copy of rows, and its twin, on the stream `queue`. */
#define COPY_ROWS(name, suffix, parameters, arguments, queue)                                      \
	TFS_TWIN_HOOKS(cudaError_t, name, suffix, parameters, arguments)                           \
	{                                                                                          \
		tfs_blocks_given(target, source);                                                  \
		const cudaError_t status = TFS_TWIN_REAL(name) arguments;                          \
                                                                                                   \
		if (TFS_END(&frame, status, width * height))                                       \
			tfs_note_rows(&frame, tfs_reach_of(target, target_pitch, width, height),   \
				tfs_reach_of(source, source_pitch, width, height), kind,           \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COPY_ROWS(cudaMemcpy2D, _ptds,
	(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind),
	(target, target_pitch, source, source_pitch, width, height, kind), NULL)
COPY_ROWS(cudaMemcpy2DAsync, _ptsz,
	(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	(target, target_pitch, source, source_pitch, width, height, kind, stream), stream)

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
