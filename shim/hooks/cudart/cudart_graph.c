/* SPDX-License-Identifier: MIT */
#include <driver_types.h>

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/state/capture.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/*
 * cuda_runtime_api.h is left out: the parameters of some of these functions changed between CUDA
 * 11, 12 and 13. They are declared with all registers that any version uses, and passed on so.
 */

static void note_begin(struct tfs_frame *frame, cudaError_t status, cudaStream_t stream,
	bool per_thread, const void *into)
{
	tfs_capture_began(status);
	tfs_note_graph(frame, status, stream, per_thread, into);
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamBeginCapture, _ptsz,
	(cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamBeginCapture)(stream, mode);

	note_begin(&frame, status, stream, per_thread, NULL);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamBeginCaptureToGraph, _ptsz,
	(cudaStream_t stream, void *graph, const void *dependencies, const void *edges,
		size_t count, enum cudaStreamCaptureMode mode),
	(stream, graph, dependencies, edges, count, mode))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamBeginCaptureToGraph)(
		stream, graph, dependencies, edges, count, mode);

	note_begin(&frame, status, stream, per_thread, graph);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamEndCapture, _ptsz, (cudaStream_t stream, void **out_graph),
	(stream, out_graph))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamEndCapture)(stream, out_graph);

	tfs_capture_ended(status);
	tfs_note_graph(
		&frame, status, stream, per_thread, status == cudaSuccess ? *out_graph : NULL);
	return status;
}

TFS_TWIN_HOOKS(
	cudaError_t, cudaGraphLaunch, _ptsz, (void *graph, cudaStream_t stream), (graph, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaGraphLaunch)(graph, stream);

	tfs_note_graph(&frame, status, stream, per_thread, graph);
	return status;
}

TFS_INSTANTIATE_HOOK(cudaError_t, cudaGraphInstantiate,
	(void **out, void *graph, uintptr_t third, uintptr_t fourth, uintptr_t fifth),
	(out, graph, third, fourth, fifth))
TFS_INSTANTIATE_HOOK(cudaError_t, cudaGraphInstantiateWithFlags,
	(void **out, void *graph, unsigned long long flags), (out, graph, flags))
TFS_INSTANTIATE_HOOK(cudaError_t, cudaGraphInstantiateWithParams,
	(void **out, void *graph, void *with), (out, graph, with))
TFS_INSTANTIATE_HOOK(cudaError_t, cudaGraphInstantiateWithParams_ptsz,
	(void **out, void *graph, void *with), (out, graph, with))

TFS_HOOK(cudaError_t, cudaGraphExecUpdate,
	(void *executable, void *graph, uintptr_t third, uintptr_t fourth))
{
	struct tfs_frame frame = TFS_ENTER(cudaGraphExecUpdate);
	const cudaError_t status = TFS_REAL(cudaGraphExecUpdate)(executable, graph, third, fourth);

	tfs_note_instantiated(&frame, status, graph, executable);
	return status;
}

TFS_MADE_HOOK(cudaError_t, cudaGraphCreate, (void **out, unsigned flags), (out, flags), NULL)
TFS_MADE_HOOK(cudaError_t, cudaGraphClone, (void **out, void *graph), (out, graph), graph)
TFS_PLAIN_HOOK(cudaError_t, cudaGraphDestroy, (void *graph), (graph))
TFS_PLAIN_HOOK(cudaError_t, cudaGraphExecDestroy, (void *executable), (executable))

#define FUNCTIONS(X)                                                                               \
	X(cudaStreamBeginCapture, capture)                                                         \
	X(cudaStreamBeginCapture_ptsz, capture)                                                    \
	X(cudaStreamBeginCaptureToGraph, capture)                                                  \
	X(cudaStreamBeginCaptureToGraph_ptsz, capture)                                             \
	X(cudaStreamEndCapture, capture_end)                                                       \
	X(cudaStreamEndCapture_ptsz, capture_end)                                                  \
	X(cudaGraphLaunch, graph_launch)                                                           \
	X(cudaGraphLaunch_ptsz, graph_launch)                                                      \
	X(cudaGraphInstantiate, graph_instantiate)                                                 \
	X(cudaGraphInstantiateWithFlags, graph_instantiate)                                        \
	X(cudaGraphInstantiateWithParams, graph_instantiate)                                       \
	X(cudaGraphInstantiateWithParams_ptsz, graph_instantiate)                                  \
	X(cudaGraphExecUpdate, graph_update)                                                       \
	X(cudaGraphCreate, graph_other)                                                            \
	X(cudaGraphClone, graph_other)                                                             \
	X(cudaGraphDestroy, graph_other)                                                           \
	X(cudaGraphExecDestroy, graph_other)

FUNCTIONS(TFS_FUNCTION_ROW)
