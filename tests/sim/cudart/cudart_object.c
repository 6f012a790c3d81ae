/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

/* Streams and events: what has no per-thread twin. */

#define LOWEST 0
#define HIGHEST (-5)

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	ENTER(cudaStreamCreate_v3020, stream);
	return LEAVE(tfsim_stream_create(stream, cudaStreamDefault, LOWEST));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	ENTER(cudaStreamCreateWithFlags_v5000, stream, flags);
	return LEAVE(tfsim_stream_create(stream, flags, LOWEST));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	ENTER(cudaStreamCreateWithPriority_v5050, stream, flags, priority);
	return LEAVE(tfsim_stream_create(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	ENTER(cudaStreamDestroy_v5050, stream);
	return LEAVE(tfsim_stream_destroy(stream));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	ENTER(cudaDeviceGetStreamPriorityRange_v5050, least, greatest);
	if (least)
		*least = LOWEST;
	if (greatest)
		*greatest = HIGHEST;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	cudaError_t error = cudaErrorInvalidValue;
	ENTER(cudaThreadExchangeStreamCaptureMode_v10010, mode);

	if (mode && (unsigned)*mode <= cudaStreamCaptureModeRelaxed) {
		*mode = tfsim_capture_mode(*mode);
		error = cudaSuccess;
	}
	return LEAVE(error);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	ENTER(cudaEventCreate_v3020, event);
	cudart_need_context();
	return LEAVE(tfsim_event_create(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	ENTER(cudaEventCreateWithFlags_v3020, event, flags);
	cudart_need_context();
	return LEAVE(tfsim_event_create(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	ENTER(cudaEventDestroy_v3020, event);
	return LEAVE(tfsim_event_destroy(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	ENTER(cudaEventQuery_v3020, event);
	return LEAVE(tfsim_event_query(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	ENTER(cudaEventSynchronize_v3020, event);
	return LEAVE(tfsim_event_synchronize(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	ENTER(cudaEventElapsedTime_v12080, ms, start, end);
	return LEAVE(tfsim_event_elapsed(ms, start, end));
}
