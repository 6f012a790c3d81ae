/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* What streams do beside kernels and copies: waits on words of memory and on other devices, and
 * what becomes of pages. None of it waits on the host. */

#define ON_STREAM(name, suffix, parameters, arguments)                                             \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		tfs_note_stream(&frame, status, stream, per_thread);                               \
		return status;                                                                     \
	}

#define ON_WORD(name, suffix, parameters, arguments)                                               \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		tfs_blocks_given((const void *)(uintptr_t)addr, NULL);                             \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		tfs_note_stream(&frame, status, stream, per_thread);                               \
		return status;                                                                     \
	}

ON_WORD(cuStreamWaitValue32, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWaitValue32_v2, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWaitValue64, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWaitValue64_v2, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWriteValue32, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWriteValue32_v2, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWriteValue64, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags),
	(stream, addr, value, flags))
ON_WORD(cuStreamWriteValue64_v2, _ptsz,
	(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags),
	(stream, addr, value, flags))
ON_STREAM(cuStreamBatchMemOp, _ptsz,
	(CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags),
	(stream, count, operations, flags))
ON_STREAM(cuStreamBatchMemOp_v2, _ptsz,
	(CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags),
	(stream, count, operations, flags))
ON_STREAM(cuStreamAttachMemAsync, _ptsz,
	(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags),
	(stream, address, bytes, flags))
ON_STREAM(cuMemPrefetchAsync, _ptsz,
	(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
	(address, bytes, device, stream))
ON_STREAM(cuMemPrefetchAsync_v2, _ptsz,
	(CUdeviceptr address, size_t bytes, CUmemLocation_v1 location, unsigned flags,
		CUstream stream),
	(address, bytes, location, flags, stream))
ON_STREAM(cuMemPrefetchBatchAsync, _ptsz,
	(CUdeviceptr * addresses, size_t *sizes, size_t count, CUmemLocation_v1 *locations,
		size_t *from, size_t location_count, unsigned long long flags, CUstream stream),
	(addresses, sizes, count, locations, from, location_count, flags, stream))
ON_STREAM(cuMemDiscardBatchAsync, _ptsz,
	(CUdeviceptr * addresses, size_t *sizes, size_t count, unsigned long long flags,
		CUstream stream),
	(addresses, sizes, count, flags, stream))
ON_STREAM(cuMemDiscardAndPrefetchBatchAsync, _ptsz,
	(CUdeviceptr * addresses, size_t *sizes, size_t count, CUmemLocation_v1 *locations,
		size_t *from, size_t location_count, unsigned long long flags, CUstream stream),
	(addresses, sizes, count, locations, from, location_count, flags, stream))
ON_STREAM(cuMemMapArrayAsync, _ptsz, (CUarrayMapInfo_v1 * maps, unsigned count, CUstream stream),
	(maps, count, stream))
ON_STREAM(cuMemBatchDecompressAsync, _ptsz,
	(CUmemDecompressParams * list, size_t count, unsigned flags, size_t *out_index,
		CUstream stream),
	(list, count, flags, out_index, stream))
ON_STREAM(cuSignalExternalSemaphoresAsync, _ptsz,
	(const CUexternalSemaphore *semaphores,
		const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 *list, unsigned count,
		CUstream stream),
	(semaphores, list, count, stream))
ON_STREAM(cuWaitExternalSemaphoresAsync, _ptsz,
	(const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 *list,
		unsigned count, CUstream stream),
	(semaphores, list, count, stream))
ON_STREAM(cuStreamUpdateCaptureDependencies, _ptsz,
	(CUstream stream, CUgraphNode *dependencies, size_t count, unsigned flags),
	(stream, dependencies, count, flags))
ON_STREAM(cuStreamUpdateCaptureDependencies_v2, _ptsz,
	(CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
		unsigned flags),
	(stream, dependencies, edges, count, flags))

#define FUNCTIONS(X)                                                                               \
	X(cuStreamWaitValue32, , , 8000, other)                                                    \
	X(cuStreamWaitValue32, , _ptsz, 8000, other)                                               \
	X(cuStreamWaitValue32, _v2, , 11070, other)                                                \
	X(cuStreamWaitValue32, _v2, _ptsz, 11070, other)                                           \
	X(cuStreamWaitValue64, , , 9000, other)                                                    \
	X(cuStreamWaitValue64, , _ptsz, 9000, other)                                               \
	X(cuStreamWaitValue64, _v2, , 11070, other)                                                \
	X(cuStreamWaitValue64, _v2, _ptsz, 11070, other)                                           \
	X(cuStreamWriteValue32, , , 8000, other)                                                   \
	X(cuStreamWriteValue32, , _ptsz, 8000, other)                                              \
	X(cuStreamWriteValue32, _v2, , 11070, other)                                               \
	X(cuStreamWriteValue32, _v2, _ptsz, 11070, other)                                          \
	X(cuStreamWriteValue64, , , 9000, other)                                                   \
	X(cuStreamWriteValue64, , _ptsz, 9000, other)                                              \
	X(cuStreamWriteValue64, _v2, , 11070, other)                                               \
	X(cuStreamWriteValue64, _v2, _ptsz, 11070, other)                                          \
	X(cuStreamBatchMemOp, , , 8000, other)                                                     \
	X(cuStreamBatchMemOp, , _ptsz, 8000, other)                                                \
	X(cuStreamBatchMemOp, _v2, , 11070, other)                                                 \
	X(cuStreamBatchMemOp, _v2, _ptsz, 11070, other)                                            \
	X(cuStreamAttachMemAsync, , , 6000, other)                                                 \
	X(cuStreamAttachMemAsync, , _ptsz, 7000, other)                                            \
	X(cuMemPrefetchAsync, , , 8000, other)                                                     \
	X(cuMemPrefetchAsync, , _ptsz, 8000, other)                                                \
	X(cuMemPrefetchAsync, _v2, , 12020, other)                                                 \
	X(cuMemPrefetchAsync, _v2, _ptsz, 12020, other)                                            \
	X(cuMemPrefetchBatchAsync, , , 13000, other)                                               \
	X(cuMemPrefetchBatchAsync, , _ptsz, 13000, other)                                          \
	X(cuMemDiscardBatchAsync, , , 13000, other)                                                \
	X(cuMemDiscardBatchAsync, , _ptsz, 13000, other)                                           \
	X(cuMemDiscardAndPrefetchBatchAsync, , , 13000, other)                                     \
	X(cuMemDiscardAndPrefetchBatchAsync, , _ptsz, 13000, other)                                \
	X(cuMemMapArrayAsync, , , 11010, other)                                                    \
	X(cuMemMapArrayAsync, , _ptsz, 11010, other)                                               \
	X(cuMemBatchDecompressAsync, , , 12060, other)                                             \
	X(cuMemBatchDecompressAsync, , _ptsz, 12060, other)                                        \
	X(cuSignalExternalSemaphoresAsync, , , 10000, other)                                       \
	X(cuSignalExternalSemaphoresAsync, , _ptsz, 10000, other)                                  \
	X(cuWaitExternalSemaphoresAsync, , , 10000, other)                                         \
	X(cuWaitExternalSemaphoresAsync, , _ptsz, 10000, other)                                    \
	X(cuStreamUpdateCaptureDependencies, , , 11030, graph_other)                               \
	X(cuStreamUpdateCaptureDependencies, , _ptsz, 11030, graph_other)                          \
	X(cuStreamUpdateCaptureDependencies, _v2, , 12030, graph_other)                            \
	X(cuStreamUpdateCaptureDependencies, _v2, _ptsz, 12030, graph_other)

FUNCTIONS(TFS_DRIVER_ROW)
