/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Copies to and from what has no address: arrays, and the program's variables on the device. In
 * some versions of CUDA their declarations are deprecated, or gone. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define COPY(name, suffix, parameters, arguments, target, source, bytes, kind, queue)              \
	TFS_TWIN_HOOKS(cudaError_t, name, suffix, parameters, arguments)                           \
	{                                                                                          \
		tfs_blocks_given(target, source);                                                  \
		const cudaError_t status = TFS_TWIN_REAL(name) arguments;                          \
                                                                                                   \
		if (TFS_END(&frame, status, bytes))                                                \
			tfs_note_copy(&frame, target, source, bytes, kind,                         \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COPY(cudaMemcpyToSymbol, _ptds,
	(const void *symbol, const void *source, size_t bytes, size_t offset,
		enum cudaMemcpyKind kind),
	(symbol, source, bytes, offset, kind), NULL, source, bytes, kind, NULL)
COPY(cudaMemcpyToSymbolAsync, _ptsz,
	(const void *symbol, const void *source, size_t bytes, size_t offset,
		enum cudaMemcpyKind kind, cudaStream_t stream),
	(symbol, source, bytes, offset, kind, stream), NULL, source, bytes, kind, stream)
COPY(cudaMemcpyFromSymbol, _ptds,
	(void *target, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
	(target, symbol, bytes, offset, kind), target, NULL, bytes, kind, NULL)
COPY(cudaMemcpyFromSymbolAsync, _ptsz,
	(void *target, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
		cudaStream_t stream),
	(target, symbol, bytes, offset, kind, stream), target, NULL, bytes, kind, stream)

COPY(cudaMemcpyToArray, _ptds,
	(cudaArray_t array, size_t x, size_t y, const void *source, size_t bytes,
		enum cudaMemcpyKind kind),
	(array, x, y, source, bytes, kind), NULL, source, bytes, kind, NULL)
COPY(cudaMemcpyToArrayAsync, _ptsz,
	(cudaArray_t array, size_t x, size_t y, const void *source, size_t bytes,
		enum cudaMemcpyKind kind, cudaStream_t stream),
	(array, x, y, source, bytes, kind, stream), NULL, source, bytes, kind, stream)
COPY(cudaMemcpyFromArray, _ptds,
	(void *target, cudaArray_const_t array, size_t x, size_t y, size_t bytes,
		enum cudaMemcpyKind kind),
	(target, array, x, y, bytes, kind), target, NULL, bytes, kind, NULL)
COPY(cudaMemcpyFromArrayAsync, _ptsz,
	(void *target, cudaArray_const_t array, size_t x, size_t y, size_t bytes,
		enum cudaMemcpyKind kind, cudaStream_t stream),
	(target, array, x, y, bytes, kind, stream), target, NULL, bytes, kind, stream)
COPY(cudaMemcpyArrayToArray, _ptds,
	(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t from_x, size_t from_y,
		size_t bytes, enum cudaMemcpyKind kind),
	(to, x, y, from, from_x, from_y, bytes, kind), NULL, NULL, bytes, kind, NULL)

COPY(cudaMemcpy2DToArray, _ptds,
	(cudaArray_t array, size_t x, size_t y, const void *source, size_t pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind),
	(array, x, y, source, pitch, width, height, kind), NULL, source, width *height, kind, NULL)
COPY(cudaMemcpy2DToArrayAsync, _ptsz,
	(cudaArray_t array, size_t x, size_t y, const void *source, size_t pitch, size_t width,
		size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	(array, x, y, source, pitch, width, height, kind, stream), NULL, source, width *height,
	kind, stream)
COPY(cudaMemcpy2DFromArray, _ptds,
	(void *target, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width,
		size_t height, enum cudaMemcpyKind kind),
	(target, pitch, array, x, y, width, height, kind), target, NULL, width *height, kind, NULL)
COPY(cudaMemcpy2DFromArrayAsync, _ptsz,
	(void *target, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width,
		size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	(target, pitch, array, x, y, width, height, kind, stream), target, NULL, width *height,
	kind, stream)
COPY(cudaMemcpy2DArrayToArray, _ptds,
	(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t from_x, size_t from_y,
		size_t width, size_t height, enum cudaMemcpyKind kind),
	(to, x, y, from, from_x, from_y, width, height, kind), NULL, NULL, width *height, kind,
	NULL)

#define FUNCTIONS(X)                                                                               \
	X(cudaMemcpyToSymbol, copy)                                                                \
	X(cudaMemcpyToSymbol_ptds, copy)                                                           \
	X(cudaMemcpyToSymbolAsync, copy_async)                                                     \
	X(cudaMemcpyToSymbolAsync_ptsz, copy_async)                                                \
	X(cudaMemcpyFromSymbol, copy)                                                              \
	X(cudaMemcpyFromSymbol_ptds, copy)                                                         \
	X(cudaMemcpyFromSymbolAsync, copy_async)                                                   \
	X(cudaMemcpyFromSymbolAsync_ptsz, copy_async)                                              \
	X(cudaMemcpyToArray, copy)                                                                 \
	X(cudaMemcpyToArray_ptds, copy)                                                            \
	X(cudaMemcpyToArrayAsync, copy_async)                                                      \
	X(cudaMemcpyToArrayAsync_ptsz, copy_async)                                                 \
	X(cudaMemcpyFromArray, copy)                                                               \
	X(cudaMemcpyFromArray_ptds, copy)                                                          \
	X(cudaMemcpyFromArrayAsync, copy_async)                                                    \
	X(cudaMemcpyFromArrayAsync_ptsz, copy_async)                                               \
	X(cudaMemcpyArrayToArray, copy)                                                            \
	X(cudaMemcpyArrayToArray_ptds, copy)                                                       \
	X(cudaMemcpy2DToArray, copy)                                                               \
	X(cudaMemcpy2DToArray_ptds, copy)                                                          \
	X(cudaMemcpy2DToArrayAsync, copy_async)                                                    \
	X(cudaMemcpy2DToArrayAsync_ptsz, copy_async)                                               \
	X(cudaMemcpy2DFromArray, copy)                                                             \
	X(cudaMemcpy2DFromArray_ptds, copy)                                                        \
	X(cudaMemcpy2DFromArrayAsync, copy_async)                                                  \
	X(cudaMemcpy2DFromArrayAsync_ptsz, copy_async)                                             \
	X(cudaMemcpy2DArrayToArray, copy)                                                          \
	X(cudaMemcpy2DArrayToArray_ptds, copy)

FUNCTIONS(TFS_FUNCTION_ROW)
