/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

#define AT(address) ((const void *)(uintptr_t)(address))

/* A fill of `count` elements of the type of `value`. */
#define FILL(name, suffix, parameters, arguments, queue)                                           \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		tfs_blocks_given(AT(target), NULL);                                                \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
		const size_t bytes = count * sizeof(value);                                        \
                                                                                                   \
		if (TFS_END(&frame, status, bytes))                                                \
			tfs_note_set(&frame, AT(target), value, bytes,                             \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

FILL(cuMemsetD8_v2, _ptds, (CUdeviceptr target, unsigned char value, size_t count),
	(target, value, count), NULL)
FILL(cuMemsetD16_v2, _ptds, (CUdeviceptr target, unsigned short value, size_t count),
	(target, value, count), NULL)
FILL(cuMemsetD32_v2, _ptds, (CUdeviceptr target, unsigned value, size_t count),
	(target, value, count), NULL)
FILL(cuMemsetD8Async, _ptsz,
	(CUdeviceptr target, unsigned char value, size_t count, CUstream stream),
	(target, value, count, stream), stream)
FILL(cuMemsetD16Async, _ptsz,
	(CUdeviceptr target, unsigned short value, size_t count, CUstream stream),
	(target, value, count, stream), stream)
FILL(cuMemsetD32Async, _ptsz, (CUdeviceptr target, unsigned value, size_t count, CUstream stream),
	(target, value, count, stream), stream)

/* Rows of `width` elements, `pitch` bytes apart. What lies between rows stays as it was, so where
 * the fill ends is not said unless there is nothing between. */
#define FILL_2D(name, suffix, parameters, arguments, queue)                                        \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		tfs_blocks_given(AT(target), NULL);                                                \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
		const size_t bytes = width * height * sizeof(value);                               \
                                                                                                   \
		if (TFS_END(&frame, status, bytes))                                                \
			tfs_note_set(&frame, AT(target), value,                                    \
				pitch == width * sizeof(value) || height == 1 ? bytes : 0,         \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

FILL_2D(cuMemsetD2D8_v2, _ptds,
	(CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height),
	(target, pitch, value, width, height), NULL)
FILL_2D(cuMemsetD2D16_v2, _ptds,
	(CUdeviceptr target, size_t pitch, unsigned short value, size_t width, size_t height),
	(target, pitch, value, width, height), NULL)
FILL_2D(cuMemsetD2D32_v2, _ptds,
	(CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height),
	(target, pitch, value, width, height), NULL)
FILL_2D(cuMemsetD2D8Async, _ptsz,
	(CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height,
		CUstream stream),
	(target, pitch, value, width, height, stream), stream)
FILL_2D(cuMemsetD2D16Async, _ptsz,
	(CUdeviceptr target, size_t pitch, unsigned short value, size_t width, size_t height,
		CUstream stream),
	(target, pitch, value, width, height, stream), stream)
FILL_2D(cuMemsetD2D32Async, _ptsz,
	(CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height,
		CUstream stream),
	(target, pitch, value, width, height, stream), stream)

#define FUNCTIONS(X)                                                                               \
	X(cuMemsetD8, _v2, , 3020, set)                                                            \
	X(cuMemsetD8, _v2, _ptds, 7000, set)                                                       \
	X(cuMemsetD16, _v2, , 3020, set)                                                           \
	X(cuMemsetD16, _v2, _ptds, 7000, set)                                                      \
	X(cuMemsetD32, _v2, , 3020, set)                                                           \
	X(cuMemsetD32, _v2, _ptds, 7000, set)                                                      \
	X(cuMemsetD8Async, , , 3020, set_async)                                                    \
	X(cuMemsetD8Async, , _ptsz, 7000, set_async)                                               \
	X(cuMemsetD16Async, , , 3020, set_async)                                                   \
	X(cuMemsetD16Async, , _ptsz, 7000, set_async)                                              \
	X(cuMemsetD32Async, , , 3020, set_async)                                                   \
	X(cuMemsetD32Async, , _ptsz, 7000, set_async)                                              \
	X(cuMemsetD2D8, _v2, , 3020, set)                                                          \
	X(cuMemsetD2D8, _v2, _ptds, 7000, set)                                                     \
	X(cuMemsetD2D16, _v2, , 3020, set)                                                         \
	X(cuMemsetD2D16, _v2, _ptds, 7000, set)                                                    \
	X(cuMemsetD2D32, _v2, , 3020, set)                                                         \
	X(cuMemsetD2D32, _v2, _ptds, 7000, set)                                                    \
	X(cuMemsetD2D8Async, , , 3020, set_async)                                                  \
	X(cuMemsetD2D8Async, , _ptsz, 7000, set_async)                                             \
	X(cuMemsetD2D16Async, , , 3020, set_async)                                                 \
	X(cuMemsetD2D16Async, , _ptsz, 7000, set_async)                                            \
	X(cuMemsetD2D32Async, , , 3020, set_async)                                                 \
	X(cuMemsetD2D32Async, , _ptsz, 7000, set_async)

FUNCTIONS(TFS_DRIVER_ROW)
