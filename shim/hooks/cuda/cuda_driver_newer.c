/* SPDX-License-Identifier: MIT */
/* What drivers newer than CUDA 13.0 have, and runtimes ask them for. Older headers know nothing of
 * it: the types are then those below, and driver_abi.py reads them here. */
#include <driver_types.h>

#include "shim/hooks/cuda/cuda_driver_copy_shape.h"
#include "shim/hooks/notes.h"
#include "shim/state/capture.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

#if CUDA_VERSION < 13010
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010)(
	CUstream stream, CUhostFn function, void *data, unsigned mode);
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010_ptsz)(
	CUstream stream, CUhostFn function, void *data, unsigned mode);
typedef struct CUstreamCigCaptureParams_st CUstreamCigCaptureParams;
typedef CUresult(CUDAAPI *PFN_cuStreamBeginCaptureToCig_v13010)(
	CUstream stream, CUstreamCigCaptureParams *with);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginCaptureToCig_v13010_ptsz)(
	CUstream stream, CUstreamCigCaptureParams *with);
typedef CUresult(CUDAAPI *PFN_cuStreamEndCaptureToCig_v13010)(CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuStreamEndCaptureToCig_v13010_ptsz)(CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindMem_v13010)(CUmemGenericAllocationHandle multicast,
	CUdevice device, size_t multicast_offset, CUmemGenericAllocationHandle memory,
	size_t offset, size_t bytes, unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindAddr_v13010)(CUmemGenericAllocationHandle multicast,
	CUdevice device, size_t multicast_offset, CUdeviceptr address, size_t bytes,
	unsigned long long flags);
#endif
#if CUDA_VERSION < 13020
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020)(
	CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *with, CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020_ptsz)(
	CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *with, CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020)(
	CUDA_MEMCPY3D_BATCH_OP *copy, unsigned long long flags, CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz)(
	CUDA_MEMCPY3D_BATCH_OP *copy, unsigned long long flags, CUstream stream);
#endif
#if CUDA_VERSION < 13030
typedef void *CUgraphRecaptureCallback;
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030)(CUstream stream,
	CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback differs, void *data);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030_ptsz)(CUstream stream,
	CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback differs, void *data);
#endif
#if CUDA_VERSION < 13040
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v13040)(CUgraphNode *out_node, CUgraph graph,
	const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
	CUgraphNodeParams *with);
typedef CUresult(CUDAAPI *PFN_cuGraphNodeSetParams_v13040)(
	CUgraphNode node, CUgraphNodeParams *with);
#endif
#if CUDA_VERSION < 13050
typedef struct CUDA_FABRIC_COPY_BATCH_OP_st CUDA_FABRIC_COPY_BATCH_OP;
typedef CUresult(CUDAAPI *PFN_cuFabricCpyBatchAsync_v13050)(
	size_t count, CUDA_FABRIC_COPY_BATCH_OP *copies, unsigned long long flags, CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuFabricCpyBatchAsync_v13050_ptsz)(
	size_t count, CUDA_FABRIC_COPY_BATCH_OP *copies, unsigned long long flags, CUstream stream);
#endif

TFS_TWIN_HOOKS(CUresult, cuLaunchHostFunc_v2, _ptsz,
	(CUstream stream, CUhostFn function, void *data, unsigned mode),
	(stream, function, data, mode))
{
	const CUresult status = TFS_TWIN_REAL(cuLaunchHostFunc_v2)(stream, function, data, mode);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuMemcpyWithAttributesAsync, _ptsz,
	(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *with, CUstream stream),
	(to, from, bytes, with, stream))
{
	const CUresult status =
		TFS_TWIN_REAL(cuMemcpyWithAttributesAsync)(to, from, bytes, with, stream);

	if (TFS_END(&frame, status, bytes))
		tfs_note_copy(&frame, (const void *)(uintptr_t)to, (const void *)(uintptr_t)from,
			bytes, cudaMemcpyDefault, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(CUresult, cuMemcpy3DWithAttributesAsync, _ptsz,
	(CUDA_MEMCPY3D_BATCH_OP * copy, unsigned long long flags, CUstream stream),
	(copy, flags, stream))
{
	const CUresult status = TFS_TWIN_REAL(cuMemcpy3DWithAttributesAsync)(copy, flags, stream);

	tfs_cuda_note_batch_3d(&frame, status, copy, 1, tfs_stream_id(stream, per_thread));
	return status;
}

/* Between devices that are named by numbers, which other processes may have written down. */
TFS_TWIN_HOOKS(CUresult, cuFabricCpyBatchAsync, _ptsz,
	(size_t count, CUDA_FABRIC_COPY_BATCH_OP *copies, unsigned long long flags,
		CUstream stream),
	(count, copies, flags, stream))
{
	const CUresult status = TFS_TWIN_REAL(cuFabricCpyBatchAsync)(count, copies, flags, stream);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuStreamBeginRecaptureToGraph, _ptsz,
	(CUstream stream, CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback differs,
		void *data),
	(stream, mode, graph, differs, data))
{
	const CUresult status =
		TFS_TWIN_REAL(cuStreamBeginRecaptureToGraph)(stream, mode, graph, differs, data);

	tfs_capture_began(status);
	tfs_note_graph(&frame, status, stream, per_thread, NULL);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuStreamBeginCaptureToCig, _ptsz,
	(CUstream stream, CUstreamCigCaptureParams *with), (stream, with))
{
	const CUresult status = TFS_TWIN_REAL(cuStreamBeginCaptureToCig)(stream, with);

	tfs_capture_began(status);
	tfs_note_graph(&frame, status, stream, per_thread, NULL);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuStreamEndCaptureToCig, _ptsz, (CUstream stream), (stream))
{
	const CUresult status = TFS_TWIN_REAL(cuStreamEndCaptureToCig)(stream);

	tfs_capture_ended(status);
	tfs_note_graph(&frame, status, stream, per_thread, NULL);
	return status;
}

TFS_PLAIN_HOOK(CUresult, cuGraphAddNode_v3,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies,
		const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *with),
	(out_node, graph, dependencies, edges, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphNodeSetParams_v2, (CUgraphNode node, CUgraphNodeParams *with),
	(node, with))
TFS_PLAIN_HOOK(CUresult, cuMulticastBindMem_v2,
	(CUmemGenericAllocationHandle multicast, CUdevice device, size_t multicast_offset,
		CUmemGenericAllocationHandle memory, size_t offset, size_t bytes,
		unsigned long long flags),
	(multicast, device, multicast_offset, memory, offset, bytes, flags))
TFS_PLAIN_HOOK(CUresult, cuMulticastBindAddr_v2,
	(CUmemGenericAllocationHandle multicast, CUdevice device, size_t multicast_offset,
		CUdeviceptr address, size_t bytes, unsigned long long flags),
	(multicast, device, multicast_offset, address, bytes, flags))

#define FUNCTIONS(X)                                                                               \
	X(cuLaunchHostFunc, _v2, , 13010, host_func)                                               \
	X(cuLaunchHostFunc, _v2, _ptsz, 13010, host_func)                                          \
	X(cuMemcpyWithAttributesAsync, , , 13020, copy_async)                                      \
	X(cuMemcpyWithAttributesAsync, , _ptsz, 13020, copy_async)                                 \
	X(cuMemcpy3DWithAttributesAsync, , , 13020, copy_async)                                    \
	X(cuMemcpy3DWithAttributesAsync, , _ptsz, 13020, copy_async)                               \
	X(cuFabricCpyBatchAsync, , , 13050, copy_async)                                            \
	X(cuFabricCpyBatchAsync, , _ptsz, 13050, copy_async)                                       \
	X(cuStreamBeginRecaptureToGraph, , , 13030, capture)                                       \
	X(cuStreamBeginRecaptureToGraph, , _ptsz, 13030, capture)                                  \
	X(cuStreamBeginCaptureToCig, , , 13010, capture)                                           \
	X(cuStreamBeginCaptureToCig, , _ptsz, 13010, capture)                                      \
	X(cuStreamEndCaptureToCig, , , 13010, capture_end)                                         \
	X(cuStreamEndCaptureToCig, , _ptsz, 13010, capture_end)                                    \
	X(cuGraphAddNode, _v3, , 13040, graph_other)                                               \
	X(cuGraphNodeSetParams, _v2, , 13040, graph_other)                                         \
	X(cuMulticastBindMem, _v2, , 13010, other)                                                 \
	X(cuMulticastBindAddr, _v2, , 13010, other)

FUNCTIONS(TFS_DRIVER_ROW)
