/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cuda_runtime_api.h>

#include "shim/hooks/notes.h"
#include "shim/hooks/wait.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

static void note_created(
	struct tfs_frame *frame, cudaError_t status, const cudaStream_t *out, unsigned flags)
{
	tfs_note_created(frame, status, status == cudaSuccess ? *out : NULL, flags);
}

TFS_HOOK(cudaError_t, cudaStreamCreate, (cudaStream_t * out))
{
	struct tfs_frame frame = TFS_ENTER(cudaStreamCreate);
	const cudaError_t status = TFS_REAL(cudaStreamCreate)(out);

	note_created(&frame, status, out, 0);
	return status;
}

TFS_HOOK(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaStreamCreateWithFlags);
	const cudaError_t status = TFS_REAL(cudaStreamCreateWithFlags)(out, flags);

	note_created(&frame, status, out, flags);
	return status;
}

TFS_HOOK(cudaError_t, cudaStreamCreateWithPriority,
	(cudaStream_t * out, unsigned flags, int priority))
{
	struct tfs_frame frame = TFS_ENTER(cudaStreamCreateWithPriority);
	const cudaError_t status = TFS_REAL(cudaStreamCreateWithPriority)(out, flags, priority);

	note_created(&frame, status, out, flags);
	return status;
}

TFS_HOOK(cudaError_t, cudaStreamDestroy, (cudaStream_t stream))
{
	struct tfs_frame frame = TFS_ENTER(cudaStreamDestroy);

	tfs_before_wait(&frame, TFS_SYNC_ENDS_STREAM, false);
	const cudaError_t status = TFS_REAL(cudaStreamDestroy)(stream);

	tfs_note_stream(&frame, status, stream, false);
	return status;
}

TFS_STREAM_WAIT_HOOKS(cudaError_t, cudaStreamSynchronize, cudaStream_t)

TFS_STREAM_QUERY_HOOKS(cudaError_t, cudaStreamQuery, cudaStream_t)

TFS_TWIN_HOOKS(cudaError_t, cudaStreamWaitEvent, _ptsz,
	(cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamWaitEvent)(stream, event, flags);

	tfs_note_event(&frame, status, event, tfs_stream_id(stream, per_thread));
	return status;
}

TFS_DEVICE_WAIT_HOOK(cudaError_t, cudaDeviceSynchronize, (void), (), NULL)

TFS_HOOK(cudaError_t, cudaEventCreate, (cudaEvent_t * out))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventCreate);
	const cudaError_t status = TFS_REAL(cudaEventCreate)(out);

	tfs_note_event(&frame, status, status == cudaSuccess ? *out : NULL, TFS_NO_STREAM);
	return status;
}

TFS_HOOK(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventCreateWithFlags);
	const cudaError_t status = TFS_REAL(cudaEventCreateWithFlags)(out, flags);

	tfs_note_event(&frame, status, status == cudaSuccess ? *out : NULL, TFS_NO_STREAM);
	return status;
}

TFS_HOOK(cudaError_t, cudaEventDestroy, (cudaEvent_t event))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventDestroy);
	const cudaError_t status = TFS_REAL(cudaEventDestroy)(event);

	tfs_note_event(&frame, status, event, TFS_NO_STREAM);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream),
	(event, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaEventRecord)(event, stream);

	tfs_note_event(&frame, status, event, tfs_stream_id(stream, per_thread));
	return status;
}

TFS_EVENT_WAIT_HOOK(cudaError_t, cudaEventSynchronize, cudaEvent_t)

TFS_EVENT_QUERY_HOOK(cudaError_t, cudaEventQuery, cudaEvent_t)

TFS_HOOK(cudaError_t, cudaEventElapsedTime,
	(float *milliseconds, cudaEvent_t start, cudaEvent_t end))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventElapsedTime);

	tfs_before_wait(&frame, TFS_SYNC_ASKS, false);
	const cudaError_t status = TFS_REAL(cudaEventElapsedTime)(milliseconds, start, end);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaLaunchHostFunc, _ptsz,
	(cudaStream_t stream, cudaHostFn_t function, void *data), (stream, function, data))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaLaunchHostFunc)(stream, function, data);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

/* Since CUDA 13.1. */
TFS_TWIN_HOOKS(cudaError_t, cudaLaunchHostFunc_v2, _ptsz,
	(cudaStream_t stream, cudaHostFn_t function, void *data, unsigned mode),
	(stream, function, data, mode))
{
	const cudaError_t status =
		TFS_TWIN_REAL(cudaLaunchHostFunc_v2)(stream, function, data, mode);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaStreamCreate, stream_create)                                                         \
	X(cudaStreamCreateWithFlags, stream_create)                                                \
	X(cudaStreamCreateWithPriority, stream_create)                                             \
	X(cudaStreamDestroy, stream_destroy)                                                       \
	X(cudaStreamSynchronize, stream_sync)                                                      \
	X(cudaStreamSynchronize_ptsz, stream_sync)                                                 \
	X(cudaStreamQuery, query)                                                                  \
	X(cudaStreamQuery_ptsz, query)                                                             \
	X(cudaStreamWaitEvent, stream_wait)                                                        \
	X(cudaStreamWaitEvent_ptsz, stream_wait)                                                   \
	X(cudaDeviceSynchronize, device_sync)                                                      \
	X(cudaEventCreate, event_create)                                                           \
	X(cudaEventCreateWithFlags, event_create)                                                  \
	X(cudaEventDestroy, event_destroy)                                                         \
	X(cudaEventRecord, event_record)                                                           \
	X(cudaEventRecord_ptsz, event_record)                                                      \
	X(cudaEventSynchronize, event_sync)                                                        \
	X(cudaEventQuery, query)                                                                   \
	X(cudaEventElapsedTime, elapsed)                                                           \
	X(cudaLaunchHostFunc, host_func)                                                           \
	X(cudaLaunchHostFunc_ptsz, host_func)                                                      \
	X(cudaLaunchHostFunc_v2, host_func)                                                        \
	X(cudaLaunchHostFunc_v2_ptsz, host_func)

FUNCTIONS(TFS_FUNCTION_ROW)
