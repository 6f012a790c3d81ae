/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"
#include "shim/state/capture.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

static void note_begin(struct tfs_frame *frame, CUresult status, CUstream stream, bool per_thread,
	const void *into)
{
	tfs_capture_began(status);
	tfs_note_graph(frame, status, stream, per_thread, into);
}

TFS_TWIN_HOOKS(CUresult, cuStreamBeginCapture_v2, _ptsz,
	(CUstream stream, CUstreamCaptureMode mode), (stream, mode))
{
	const CUresult status = TFS_TWIN_REAL(cuStreamBeginCapture_v2)(stream, mode);

	note_begin(&frame, status, stream, per_thread, NULL);
	return status;
}

/* Before CUDA 10.1. */
TFS_TWIN_HOOKS(CUresult, cuStreamBeginCapture, _ptsz, (CUstream stream), (stream))
{
	const CUresult status = TFS_TWIN_REAL(cuStreamBeginCapture)(stream);

	note_begin(&frame, status, stream, per_thread, NULL);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuStreamBeginCaptureToGraph, _ptsz,
	(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
		const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
	(stream, graph, dependencies, edges, count, mode))
{
	const CUresult status = TFS_TWIN_REAL(cuStreamBeginCaptureToGraph)(
		stream, graph, dependencies, edges, count, mode);

	note_begin(&frame, status, stream, per_thread, graph);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph *out_graph),
	(stream, out_graph))
{
	const CUresult status = TFS_TWIN_REAL(cuStreamEndCapture)(stream, out_graph);

	tfs_capture_ended(status);
	tfs_note_graph(
		&frame, status, stream, per_thread, status == CUDA_SUCCESS ? *out_graph : NULL);
	return status;
}

TFS_TWIN_HOOKS(
	CUresult, cuGraphLaunch, _ptsz, (CUgraphExec graph, CUstream stream), (graph, stream))
{
	const CUresult status = TFS_TWIN_REAL(cuGraphLaunch)(graph, stream);

	tfs_note_graph(&frame, status, stream, per_thread, graph);
	return status;
}

#define TFS_UPDATE_HOOK(name, parameters, arguments)                                               \
	TFS_HOOK(CUresult, name, parameters)                                                       \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const CUresult status = TFS_REAL(name) arguments;                                  \
                                                                                                   \
		tfs_note_instantiated(&frame, status, graph, executable);                          \
		return status;                                                                     \
	}

/* Before CUDA 12. */
TFS_INSTANTIATE_HOOK(CUresult, cuGraphInstantiate,
	(CUgraphExec * out, CUgraph graph, CUgraphNode *out_node, char *log, size_t room),
	(out, graph, out_node, log, room))
TFS_INSTANTIATE_HOOK(CUresult, cuGraphInstantiate_v2,
	(CUgraphExec * out, CUgraph graph, CUgraphNode *out_node, char *log, size_t room),
	(out, graph, out_node, log, room))
TFS_INSTANTIATE_HOOK(CUresult, cuGraphInstantiateWithFlags,
	(CUgraphExec * out, CUgraph graph, unsigned long long flags), (out, graph, flags))
TFS_INSTANTIATE_HOOK(CUresult, cuGraphInstantiateWithParams,
	(CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *with), (out, graph, with))
TFS_INSTANTIATE_HOOK(CUresult, cuGraphInstantiateWithParams_ptsz,
	(CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *with), (out, graph, with))
TFS_TWIN_HOOKS(
	CUresult, cuGraphUpload, _ptsz, (CUgraphExec graph, CUstream stream), (graph, stream))
{
	const CUresult status = TFS_TWIN_REAL(cuGraphUpload)(graph, stream);

	tfs_note_graph(&frame, status, stream, per_thread, graph);
	return status;
}

TFS_UPDATE_HOOK(cuGraphExecUpdate,
	(CUgraphExec executable, CUgraph graph, CUgraphNode *out_node,
		CUgraphExecUpdateResult *out_result),
	(executable, graph, out_node, out_result))
TFS_UPDATE_HOOK(cuGraphExecUpdate_v2,
	(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *out_result),
	(executable, graph, out_result))
TFS_MADE_HOOK(CUresult, cuGraphCreate, (CUgraph * out, unsigned flags), (out, flags), NULL)
TFS_MADE_HOOK(CUresult, cuGraphClone, (CUgraph * out, CUgraph graph), (out, graph), graph)
TFS_PLAIN_HOOK(CUresult, cuGraphDestroy, (CUgraph graph), (graph))
TFS_PLAIN_HOOK(CUresult, cuGraphExecDestroy, (CUgraphExec executable), (executable))

#define FUNCTIONS(X)                                                                               \
	X(cuStreamBeginCapture, , , 10000, capture)                                                \
	X(cuStreamBeginCapture, , _ptsz, 10000, capture)                                           \
	X(cuStreamBeginCapture, _v2, , 10010, capture)                                             \
	X(cuStreamBeginCapture, _v2, _ptsz, 10010, capture)                                        \
	X(cuStreamBeginCaptureToGraph, , , 12030, capture)                                         \
	X(cuStreamBeginCaptureToGraph, , _ptsz, 12030, capture)                                    \
	X(cuStreamEndCapture, , , 10000, capture_end)                                              \
	X(cuStreamEndCapture, , _ptsz, 10000, capture_end)                                         \
	X(cuGraphLaunch, , , 10000, graph_launch)                                                  \
	X(cuGraphLaunch, , _ptsz, 10000, graph_launch)                                             \
	X(cuGraphUpload, , , 11010, graph_other)                                                   \
	X(cuGraphUpload, , _ptsz, 11010, graph_other)                                              \
	X(cuGraphInstantiate, , , 10000, graph_instantiate)                                        \
	X(cuGraphInstantiate, _v2, , 11000, graph_instantiate)                                     \
	X(cuGraphInstantiateWithFlags, , , 11040, graph_instantiate)                               \
	X(cuGraphInstantiateWithParams, , , 12000, graph_instantiate)                              \
	X(cuGraphInstantiateWithParams, , _ptsz, 12000, graph_instantiate)                         \
	X(cuGraphExecUpdate, , , 10020, graph_update)                                              \
	X(cuGraphExecUpdate, _v2, , 12000, graph_update)                                           \
	X(cuGraphCreate, , , 10000, graph_other)                                                   \
	X(cuGraphClone, , , 10000, graph_other)                                                    \
	X(cuGraphDestroy, , , 10000, graph_other)                                                  \
	X(cuGraphExecDestroy, , , 10000, graph_other)

FUNCTIONS(TFS_DRIVER_ROW)
