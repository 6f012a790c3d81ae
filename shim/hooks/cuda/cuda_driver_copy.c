/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <driver_types.h>

#include "shim/hooks/copy.h"
#include "shim/hooks/cuda.h"
#include "shim/rewrites/memory/blocks.h"

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
		tfs_blocks_given(AT(target), AT(source));                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		if (TFS_END(&frame, status, bytes))                                                \
			tfs_note_copy(&frame, AT(target), AT(source), bytes, kind,                 \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

/* The same for memory without a shape, which rewrites may take part in. */
#define PLAIN_COPY(name, suffix, parameters, arguments, way, queue, is_async)                      \
	TFS_COPY_HOOKS(CUresult, name, suffix, parameters, arguments, queue, (void *)AT(to),       \
		AT(from), bytes, way, is_async)

PLAIN_COPY(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t bytes),
	(to, from, bytes), cudaMemcpyHostToDevice, NULL, false)
PLAIN_COPY(cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes),
	cudaMemcpyDeviceToHost, NULL, false)
PLAIN_COPY(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
	(to, from, bytes), cudaMemcpyDeviceToDevice, NULL, false)
PLAIN_COPY(cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes),
	cudaMemcpyDefault, NULL, false)
PLAIN_COPY(cuMemcpyHtoDAsync_v2, _ptsz,
	(CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), cudaMemcpyHostToDevice, stream, true)
PLAIN_COPY(cuMemcpyDtoHAsync_v2, _ptsz, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), cudaMemcpyDeviceToHost, stream, true)
PLAIN_COPY(cuMemcpyDtoDAsync_v2, _ptsz,
	(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), cudaMemcpyDeviceToDevice, stream, true)
PLAIN_COPY(cuMemcpyAsync, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	(to, from, bytes, stream), cudaMemcpyDefault, stream, true)

/* Between devices, and to and from arrays, which have no address. */
COPY(cuMemcpyPeer, _ptds,
	(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
		size_t bytes),
	(to, to_context, from, from_context, bytes), to, from, cudaMemcpyDeviceToDevice, NULL)
COPY(cuMemcpyPeerAsync, _ptsz,
	(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
		size_t bytes, CUstream stream),
	(to, to_context, from, from_context, bytes, stream), to, from, cudaMemcpyDeviceToDevice,
	stream)
COPY(cuMemcpyAtoA_v2, _ptds,
	(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes),
	(to, to_offset, from, from_offset, bytes), NULL, NULL, cudaMemcpyDeviceToDevice, NULL)
COPY(cuMemcpyAtoD_v2, _ptds, (CUdeviceptr to, CUarray from, size_t from_offset, size_t bytes),
	(to, from, from_offset, bytes), to, NULL, cudaMemcpyDeviceToDevice, NULL)
COPY(cuMemcpyAtoH_v2, _ptds, (void *to, CUarray from, size_t from_offset, size_t bytes),
	(to, from, from_offset, bytes), to, NULL, cudaMemcpyDeviceToHost, NULL)
COPY(cuMemcpyDtoA_v2, _ptds, (CUarray to, size_t to_offset, CUdeviceptr from, size_t bytes),
	(to, to_offset, from, bytes), NULL, from, cudaMemcpyDeviceToDevice, NULL)
COPY(cuMemcpyHtoA_v2, _ptds, (CUarray to, size_t to_offset, const void *from, size_t bytes),
	(to, to_offset, from, bytes), NULL, from, cudaMemcpyHostToDevice, NULL)
COPY(cuMemcpyAtoHAsync_v2, _ptsz,
	(void *to, CUarray from, size_t from_offset, size_t bytes, CUstream stream),
	(to, from, from_offset, bytes, stream), to, NULL, cudaMemcpyDeviceToHost, stream)
COPY(cuMemcpyHtoAAsync_v2, _ptsz,
	(CUarray to, size_t to_offset, const void *from, size_t bytes, CUstream stream),
	(to, to_offset, from, bytes, stream), NULL, from, cudaMemcpyHostToDevice, stream)

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
	X(cuMemcpyPeer, , , 4000, copy)                                                            \
	X(cuMemcpyPeer, , _ptds, 7000, copy)                                                       \
	X(cuMemcpyPeerAsync, , , 4000, copy_async)                                                 \
	X(cuMemcpyPeerAsync, , _ptsz, 7000, copy_async)                                            \
	X(cuMemcpyAtoA, _v2, , 3020, copy)                                                         \
	X(cuMemcpyAtoA, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyAtoD, _v2, , 3020, copy)                                                         \
	X(cuMemcpyAtoD, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyAtoH, _v2, , 3020, copy)                                                         \
	X(cuMemcpyAtoH, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyDtoA, _v2, , 3020, copy)                                                         \
	X(cuMemcpyDtoA, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyHtoA, _v2, , 3020, copy)                                                         \
	X(cuMemcpyHtoA, _v2, _ptds, 7000, copy)                                                    \
	X(cuMemcpyAtoHAsync, _v2, , 3020, copy_async)                                              \
	X(cuMemcpyAtoHAsync, _v2, _ptsz, 7000, copy_async)                                         \
	X(cuMemcpyHtoAAsync, _v2, , 3020, copy_async)                                              \
	X(cuMemcpyHtoAAsync, _v2, _ptsz, 7000, copy_async)

FUNCTIONS(TFS_DRIVER_ROW)
