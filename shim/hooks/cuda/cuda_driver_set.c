/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/fill.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Fills of `count` elements of the type of `value`, and of rows of `width` elements, `pitch` bytes
 * apart. */
#define FILL(name, suffix, parameters, arguments, queue)                                           \
	TFS_FILL_HOOKS(CUresult, name, suffix, parameters, arguments, queue,                       \
		(void *)(uintptr_t)target, count * sizeof(value), value, false, false)
#define FILL_2D(name, suffix, parameters, arguments, queue)                                        \
	TFS_FILL_HOOKS(CUresult, name, suffix, parameters, arguments, queue,                       \
		(void *)(uintptr_t)target, width *height * sizeof(value), value, true,             \
		height != 1 && pitch != width * sizeof(value))

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
