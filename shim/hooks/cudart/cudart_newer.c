/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cudart/cudart_batch.h"
#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/state/capture.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* What runtimes newer than CUDA 13.0 have. Older headers declare none of it: handles are the words
 * that they arrive in. */

/* Order between contexts as a whole; see cuda_driver_green.c. */
#define WITH_EVENT(name)                                                                           \
	TFS_HOOK(cudaError_t, name, (void *context, cudaEvent_t event))                            \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const cudaError_t status = TFS_REAL(name)(context, event);                         \
                                                                                                   \
		tfs_note_event(&frame, status, event, TFS_NO_STREAM);                              \
		return status;                                                                     \
	}

WITH_EVENT(cudaExecutionCtxRecordEvent)
WITH_EVENT(cudaExecutionCtxWaitEvent)
TFS_PLAIN_HOOK(cudaError_t, cudaExecutionCtxSynchronize, (void *context), (context))
TFS_PLAIN_HOOK(cudaError_t, cudaExecutionCtxDestroy, (void *context), (context))

TFS_HOOK(cudaError_t, cudaExecutionCtxStreamCreate,
	(cudaStream_t * out, void *context, unsigned flags, int priority))
{
	struct tfs_frame frame = TFS_ENTER(cudaExecutionCtxStreamCreate);
	const cudaError_t status =
		TFS_REAL(cudaExecutionCtxStreamCreate)(out, context, flags, priority);

	tfs_note_created(&frame, status, status == cudaSuccess ? *out : NULL, flags);
	return status;
}

TFS_HOOK(cudaError_t, cudaGreenCtxCreate, (void **out, void *part, int device, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaGreenCtxCreate);
	const cudaError_t status = TFS_REAL(cudaGreenCtxCreate)(out, part, device, flags);

	tfs_note_apart(&frame, status);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamBeginRecaptureToGraph, _ptsz,
	(cudaStream_t stream, enum cudaStreamCaptureMode mode, void *graph, void *differs),
	(stream, mode, graph, differs))
{
	const cudaError_t status =
		TFS_TWIN_REAL(cudaStreamBeginRecaptureToGraph)(stream, mode, graph, differs);

	tfs_capture_began(status);
	tfs_note_graph(&frame, status, stream, per_thread, NULL);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaMemcpy3DWithAttributesAsync, _ptsz,
	(struct cudaMemcpy3DBatchOp * copy, unsigned long long flags, cudaStream_t stream),
	(copy, flags, stream))
{
	const cudaError_t status =
		TFS_TWIN_REAL(cudaMemcpy3DWithAttributesAsync)(copy, flags, stream);

	tfs_cudart_note_batch_3d(&frame, status, copy, 1, tfs_stream_id(stream, per_thread));
	return status;
}

TFS_PLAIN_HOOK(cudaError_t, cudaGraphConditionalHandleCreate_v2,
	(void *out, void *graph, void *context, unsigned value, unsigned flags),
	(out, graph, context, value, flags))

#define FUNCTIONS(X)                                                                               \
	X(cudaExecutionCtxRecordEvent, event_record)                                               \
	X(cudaExecutionCtxWaitEvent, stream_wait)                                                  \
	X(cudaExecutionCtxSynchronize, device_sync)                                                \
	X(cudaExecutionCtxDestroy, handle_destroy)                                                 \
	X(cudaExecutionCtxStreamCreate, stream_create)                                             \
	X(cudaGreenCtxCreate, handle_create)                                                       \
	X(cudaStreamBeginRecaptureToGraph, capture)                                                \
	X(cudaStreamBeginRecaptureToGraph_ptsz, capture)                                           \
	X(cudaMemcpy3DWithAttributesAsync, copy_async)                                             \
	X(cudaMemcpy3DWithAttributesAsync_ptsz, copy_async)                                        \
	X(cudaGraphConditionalHandleCreate_v2, graph_other)

FUNCTIONS(TFS_FUNCTION_ROW)
