/* SPDX-License-Identifier: MIT */
#include <driver_types.h>

#include "shim/driver.h"
#include "shim/notes.h"
#include "shim/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* An address of either side. */
#define AT(address) ((const void *)(uintptr_t)(address))

/*
 * One copy in one dimension, and its twin: `target` and `source` are addresses, `queue` the stream
 * that it is put on.
 */
#define COPY(name, suffix, parameters, arguments, target, source, kind, queue)                     \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		if (TFS_END(&frame, status, bytes))                                                \
			tfs_note_copy(&frame, AT(target), AT(source), bytes, kind,                 \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COPY(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes),
	to, from, cudaMemcpyHostToDevice, NULL)
COPY(cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes), to,
	from, cudaMemcpyDeviceToHost, NULL)
COPY(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes),
	to, from, cudaMemcpyDeviceToDevice, NULL)
COPY(cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes), to, from,
	cudaMemcpyDefault, NULL)
COPY(cuMemcpyHtoDAsync_v2, _ptsz, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), to, from, cudaMemcpyHostToDevice, stream)
COPY(cuMemcpyDtoHAsync_v2, _ptsz, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), to, from, cudaMemcpyDeviceToHost, stream)
COPY(cuMemcpyDtoDAsync_v2, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), to, from, cudaMemcpyDeviceToDevice, stream)
COPY(cuMemcpyAsync, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), to, from, cudaMemcpyDefault, stream)

/* Where a copy in more dimensions begins; an array has no address. */
static const void *start_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t offset)
{
	if (type == CU_MEMORYTYPE_HOST)
		return (const char *)host + offset;
	return type == CU_MEMORYTYPE_ARRAY ? NULL : AT(device + offset);
}

static int direction(CUmemorytype target, CUmemorytype source)
{
	if (target == CU_MEMORYTYPE_UNIFIED || source == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (target == CU_MEMORYTYPE_HOST)
		return source == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
	return source == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

static void note_2d(struct tfs_frame *frame, const CUDA_MEMCPY2D *copy, uint16_t stream)
{
	tfs_note_copy(frame,
		start_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice,
			copy->dstY * copy->dstPitch + copy->dstXInBytes),
		start_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
			copy->srcY * copy->srcPitch + copy->srcXInBytes),
		copy->WidthInBytes * copy->Height,
		direction(copy->dstMemoryType, copy->srcMemoryType), stream);
}

static size_t bytes_2d(CUresult status, const CUDA_MEMCPY2D *copy)
{
	return status == CUDA_SUCCESS ? copy->WidthInBytes * copy->Height : 0;
}

#define COPY_2D(name, suffix, parameters, arguments, queue)                                        \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		if (TFS_END(&frame, status, bytes_2d(status, copy)) && copy != NULL)               \
			note_2d(&frame, copy, tfs_stream_id(queue, per_thread));                   \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COPY_2D(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *copy), (copy), NULL)
COPY_2D(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *copy), (copy), NULL)
COPY_2D(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream),
	stream)

/* A fill of `count` elements of the type of `value`. */
#define FILL(name, suffix, parameters, arguments, queue)                                           \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
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

#define FUNCTIONS(X)                                                                               \
	X(cuMemcpyHtoD, _v2, , 3020, copy)                                                         \
	X(cuMemcpyHtoD, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyDtoH, _v2, , 3020, copy)                                                         \
	X(cuMemcpyDtoH, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyDtoD, _v2, , 3020, copy)                                                         \
	X(cuMemcpyDtoD, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpy, , , 4000, copy)                                                                \
	X(cuMemcpy, , _ptds, 7000, copy)                                                           \
	X(cuMemcpyHtoDAsync, _v2, , 3020, copy_async)                                              \
	X(cuMemcpyHtoDAsync, _v2, _ptsz, 7000, copy_async)                                         \
	X(cuMemcpyDtoHAsync, _v2, , 3020, copy_async)                                              \
	X(cuMemcpyDtoHAsync, _v2, _ptsz, 7000, copy_async)                                         \
	X(cuMemcpyDtoDAsync, _v2, , 3020, copy_async)                                              \
	X(cuMemcpyDtoDAsync, _v2, _ptsz, 7000, copy_async)                                         \
	X(cuMemcpyAsync, , , 4000, copy_async)                                                     \
	X(cuMemcpyAsync, , _ptsz, 7000, copy_async)                                                \
	X(cuMemcpy2D, _v2, , 3020, copy)                                                           \
	X(cuMemcpy2D, _v2, _ptds, 7000, copy)                                                      \
	X(cuMemcpy2DUnaligned, _v2, , 3020, copy)                                                  \
	X(cuMemcpy2DUnaligned, _v2, _ptds, 7000, copy)                                             \
	X(cuMemcpy2DAsync, _v2, , 3020, copy_async)                                                \
	X(cuMemcpy2DAsync, _v2, _ptsz, 7000, copy_async)                                           \
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
	X(cuMemsetD32Async, , _ptsz, 7000, set_async)

TFS_DRIVER_FAMILY(cuda_driver_copy, FUNCTIONS);
