/* SPDX-License-Identifier: MIT */
#include "tests/sim/cuda/cuda_private.h"

SIM_DRIVER_TWINS(cuStreamBeginCapture_v2, _ptsz, (CUstream hStream, CUstreamCaptureMode mode),
	tfsim_capture_begin(hStream ? hStream : none, (enum cudaStreamCaptureMode)mode))

SIM_DRIVER_TWINS(cuStreamEndCapture, _ptsz, (CUstream hStream, CUgraph *phGraph),
	tfsim_capture_end(hStream ? hStream : none, phGraph))

static cudaError_t status(CUstream stream, CUstreamCaptureStatus *out, cuuint64_t *out_id)
{
	enum cudaStreamCaptureStatus state;
	unsigned long long id = 0;
	cudaError_t error;

	if (!out)
		return cudaErrorInvalidValue;
	error = tfsim_capture_status(stream, &state, &id);
	if (error)
		return error;
	*out = (CUstreamCaptureStatus)state;
	if (out_id && state == cudaStreamCaptureStatusActive)
		*out_id = id;
	return cudaSuccess;
}

SIM_DRIVER_TWINS(cuStreamIsCapturing, _ptsz,
	(CUstream hStream, CUstreamCaptureStatus *captureStatus),
	status(hStream ? hStream : none, captureStatus, NULL))

SIM_DRIVER_TWINS(cuStreamGetCaptureInfo, _ptsz,
	(CUstream hStream, CUstreamCaptureStatus *captureStatus, cuuint64_t *id),
	status(hStream ? hStream : none, captureStatus, id))

static cudaError_t no_nodes(const CUgraphNode **nodes, size_t *count)
{
	return nodes || count ? cudaErrorNotSupported : cudaSuccess;
}

static cudaError_t info(CUstream stream, CUstreamCaptureStatus *out, cuuint64_t *id, CUgraph *graph,
	const CUgraphNode **nodes, size_t *count)
{
	cudaError_t error = status(stream, out, id);

	if (error || *out == CU_STREAM_CAPTURE_STATUS_NONE)
		return error;
	if (graph)
		*graph = tfsim_capture_graph(stream);
	error = no_nodes(nodes, count);
	if (error)
		tfsim_not_supported("cuStreamGetCaptureInfo with nodes");
	return error;
}

SIM_DRIVER_TWINS(cuStreamGetCaptureInfo_v3, _ptsz,
	(CUstream hStream, CUstreamCaptureStatus *captureStatus, cuuint64_t *id, CUgraph *graph,
		const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count),
	edges ? cudaErrorNotSupported
	      : info(hStream ? hStream : none, captureStatus, id, graph, dependencies, count))

SIM_DRIVER_TWINS(cuStreamGetCaptureInfo_v2, _ptsz,
	(CUstream hStream, CUstreamCaptureStatus *captureStatus, cuuint64_t *id, CUgraph *graph,
		const CUgraphNode **dependencies, size_t *count),
	info(hStream ? hStream : none, captureStatus, id, graph, dependencies, count))

SIM_DRIVER(cuUserObjectCreate,
	(CUuserObject * object_out, void *ptr, CUhostFn destroy, unsigned initialRefcount,
		unsigned flags),
	object_out &&destroy &&initialRefcount &&flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
		? tfsim_user_create(object_out, ptr, destroy, initialRefcount)
		: cudaErrorInvalidValue)

SIM_DRIVER(cuGraphRetainUserObject,
	(CUgraph graph, CUuserObject object, unsigned count, unsigned flags),
	object &&count == 1 && flags <= CU_GRAPH_USER_OBJECT_MOVE
		? tfsim_graph_retain(graph, object, flags == CU_GRAPH_USER_OBJECT_MOVE)
		: cudaErrorInvalidValue)

/* Needs no context: it only changes how the thread is judged. */
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = (CUstreamCaptureMode)tfsim_capture_mode((enum cudaStreamCaptureMode) * mode);
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuGraphInstantiateWithFlags,
	(CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags),
	tfsim_graph_instantiate(phGraphExec, hGraph, flags))

SIM_DRIVER_TWINS(cuGraphLaunch, _ptsz, (CUgraphExec hGraphExec, CUstream hStream),
	tfsim_graph_launch(hGraphExec, hStream ? hStream : none))

SIM_DRIVER(cuGraphDestroy, (CUgraph hGraph), tfsim_graph_destroy(hGraph))

SIM_DRIVER(cuGraphExecDestroy, (CUgraphExec hGraphExec), tfsim_graph_exec_destroy(hGraphExec))
