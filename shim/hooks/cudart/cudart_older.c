/* SPDX-License-Identifier: MIT */
#include <driver_types.h>

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Functions of CUDA 11 and 12 that CUDA 13 no longer has. Its header declares none of them: where
 * no more matters than that they are passed on, parameters are the words that they arrive in. */

TFS_PLAIN_HOOK(cudaError_t, cudaThreadSynchronize, (void), ())
TFS_PLAIN_HOOK(cudaError_t, cudaEventElapsedTime_v2,
	(float *milliseconds, cudaEvent_t start, cudaEvent_t end), (milliseconds, start, end))
TFS_PLAIN_HOOK(cudaError_t, cudaLaunchCooperativeKernelMultiDevice,
	(void *launches, unsigned devices, unsigned flags), (launches, devices, flags))

#define SEMAPHORES(name)                                                                           \
	TFS_TWIN_HOOKS(cudaError_t, name, _ptsz,                                                   \
		(const void *semaphores, const void *list, unsigned count, cudaStream_t stream),   \
		(semaphores, list, count, stream))                                                 \
	{                                                                                          \
		const cudaError_t status = TFS_TWIN_REAL(name)(semaphores, list, count, stream);   \
                                                                                                   \
		tfs_note_stream(&frame, status, stream, per_thread);                               \
		return status;                                                                     \
	}
SEMAPHORES(cudaSignalExternalSemaphoresAsync_v2)
SEMAPHORES(cudaWaitExternalSemaphoresAsync_v2)

TFS_TWIN_HOOKS(cudaError_t, cudaStreamUpdateCaptureDependencies_v2, _ptsz,
	(cudaStream_t stream, void *dependencies, const void *edges, size_t count, unsigned flags),
	(stream, dependencies, edges, count, flags))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamUpdateCaptureDependencies_v2)(
		stream, dependencies, edges, count, flags);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

TFS_PLAIN_HOOK(cudaError_t, cudaGraphAddDependencies_v2,
	(void *graph, const void *from, const void *to, const void *edges, size_t count),
	(graph, from, to, edges, count))
TFS_PLAIN_HOOK(cudaError_t, cudaGraphRemoveDependencies_v2,
	(void *graph, const void *from, const void *to, const void *edges, size_t count),
	(graph, from, to, edges, count))
TFS_PLAIN_HOOK(cudaError_t, cudaGraphAddNode_v2,
	(void **out, void *graph, const void *dependencies, const void *edges, size_t count,
		void *node),
	(out, graph, dependencies, edges, count, node))

#define FUNCTIONS(X)                                                                               \
	X(cudaThreadSynchronize, device_sync)                                                      \
	X(cudaEventElapsedTime_v2, elapsed)                                                        \
	X(cudaLaunchCooperativeKernelMultiDevice, other)                                           \
	X(cudaSignalExternalSemaphoresAsync_v2, other)                                             \
	X(cudaSignalExternalSemaphoresAsync_v2_ptsz, other)                                        \
	X(cudaWaitExternalSemaphoresAsync_v2, other)                                               \
	X(cudaWaitExternalSemaphoresAsync_v2_ptsz, other)                                          \
	X(cudaStreamUpdateCaptureDependencies_v2, graph_other)                                     \
	X(cudaStreamUpdateCaptureDependencies_v2_ptsz, graph_other)                                \
	X(cudaGraphAddDependencies_v2, graph_other)                                                \
	X(cudaGraphRemoveDependencies_v2, graph_other)                                             \
	X(cudaGraphAddNode_v2, graph_other)

FUNCTIONS(TFS_FUNCTION_ROW)
