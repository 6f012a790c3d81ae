/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hook.h"
#include "shim/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

static void note_stream(
	struct tfs_frame *frame, cudaError_t status, cudaStream_t stream, bool per_thread)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, tfs_stream_id(stream, per_thread));
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

static void note_created(
	struct tfs_frame *frame, cudaError_t status, const cudaStream_t *out, unsigned flags)
{
	struct tfs_details details;

	TFS_END(frame, status, 0);
	if (frame->thread == NULL)
		return;
	tfs_details_init(&details, TFS_NO_STREAM);
	if (status == cudaSuccess) {
		tfs_stream_created(
			*out, (flags & cudaStreamNonBlocking) != 0 ? TFS_STREAM_NON_BLOCKING : 0);
		details.stream = tfs_stream_id(*out, 0);
	}
	tfs_hook_details_always(frame, &details);
	TFS_LEAVE(frame);
}

static void note_event(
	struct tfs_frame *frame, cudaError_t status, cudaEvent_t event, uint16_t stream)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, stream);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_event, (uint64_t)(uintptr_t)event);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
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
	const cudaError_t status = TFS_REAL(cudaStreamDestroy)(stream);

	note_stream(&frame, status, stream, false);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamSynchronize)(stream);

	note_stream(&frame, status, stream, per_thread);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamQuery)(stream);

	note_stream(&frame, status, stream, per_thread);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaStreamWaitEvent, _ptsz,
	(cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaStreamWaitEvent)(stream, event, flags);

	note_event(&frame, status, event, tfs_stream_id(stream, per_thread));
	return status;
}

TFS_PLAIN_HOOK(cudaError_t, cudaDeviceSynchronize, (void), ())

TFS_HOOK(cudaError_t, cudaEventCreate, (cudaEvent_t * out))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventCreate);
	const cudaError_t status = TFS_REAL(cudaEventCreate)(out);

	note_event(&frame, status, status == cudaSuccess ? *out : NULL, TFS_NO_STREAM);
	return status;
}

TFS_HOOK(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventCreateWithFlags);
	const cudaError_t status = TFS_REAL(cudaEventCreateWithFlags)(out, flags);

	note_event(&frame, status, status == cudaSuccess ? *out : NULL, TFS_NO_STREAM);
	return status;
}

TFS_HOOK(cudaError_t, cudaEventDestroy, (cudaEvent_t event))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventDestroy);
	const cudaError_t status = TFS_REAL(cudaEventDestroy)(event);

	note_event(&frame, status, event, TFS_NO_STREAM);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream),
	(event, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaEventRecord)(event, stream);

	note_event(&frame, status, event, tfs_stream_id(stream, per_thread));
	return status;
}

TFS_HOOK(cudaError_t, cudaEventSynchronize, (cudaEvent_t event))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventSynchronize);
	const cudaError_t status = TFS_REAL(cudaEventSynchronize)(event);

	note_event(&frame, status, event, TFS_NO_STREAM);
	return status;
}

TFS_HOOK(cudaError_t, cudaEventQuery, (cudaEvent_t event))
{
	struct tfs_frame frame = TFS_ENTER(cudaEventQuery);
	const cudaError_t status = TFS_REAL(cudaEventQuery)(event);

	note_event(&frame, status, event, TFS_NO_STREAM);
	return status;
}

TFS_PLAIN_HOOK(cudaError_t, cudaEventElapsedTime,
	(float *milliseconds, cudaEvent_t start, cudaEvent_t end), (milliseconds, start, end))

TFS_TWIN_HOOKS(cudaError_t, cudaLaunchHostFunc, _ptsz,
	(cudaStream_t stream, cudaHostFn_t function, void *data), (stream, function, data))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaLaunchHostFunc)(stream, function, data);

	note_stream(&frame, status, stream, per_thread);
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
	X(cudaEventElapsedTime, other)                                                             \
	X(cudaLaunchHostFunc, host_func)                                                           \
	X(cudaLaunchHostFunc_ptsz, host_func)

TFS_FAMILY(cudart_stream, FUNCTIONS);
