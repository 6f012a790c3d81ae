/* SPDX-License-Identifier: MIT */
#include "tests/sim/cuda/cuda_private.h"

SIM_DRIVER(cuStreamCreate, (CUstream * phStream, unsigned int Flags),
	tfsim_stream_create(phStream, Flags, 0))

SIM_DRIVER(cuStreamCreateWithPriority, (CUstream * phStream, unsigned int flags, int priority),
	tfsim_stream_create(phStream, flags, priority))

SIM_DRIVER(cuStreamDestroy_v2, (CUstream hStream), tfsim_stream_destroy(hStream))

SIM_DRIVER_TWINS(cuStreamSynchronize, _ptsz, (CUstream hStream),
	tfsim_stream_synchronize(hStream ? hStream : none))

SIM_DRIVER_TWINS(
	cuStreamQuery, _ptsz, (CUstream hStream), tfsim_stream_query(hStream ? hStream : none))

SIM_DRIVER_TWINS(cuStreamGetFlags, _ptsz, (CUstream hStream, unsigned int *flags),
	tfsim_stream_flags(hStream ? hStream : none, flags))

SIM_DRIVER_TWINS(cuStreamGetPriority, _ptsz, (CUstream hStream, int *priority),
	tfsim_stream_priority(hStream ? hStream : none, priority))

SIM_DRIVER_TWINS(cuStreamGetId, _ptsz, (CUstream hStream, unsigned long long *streamId),
	tfsim_stream_id(hStream ? hStream : none, streamId))

SIM_DRIVER_TWINS(cuStreamGetCtx, _ptsz, (CUstream hStream, CUcontext *pctx),
	pctx ? (*pctx = sim_context_handle(tfsim_stream_device(hStream ? hStream : none)), 0)
	     : (int)cudaErrorInvalidValue)

SIM_DRIVER_TWINS(cuStreamGetDevice, _ptsz, (CUstream hStream, CUdevice *device),
	device ? (*device = tfsim_stream_device(hStream ? hStream : none), 0)
	       : (int)cudaErrorInvalidValue)

SIM_DRIVER_TWINS(cuStreamWaitEvent, _ptsz, (CUstream hStream, CUevent hEvent, unsigned int Flags),
	tfsim_stream_wait(hStream ? hStream : none, hEvent, Flags))

SIM_DRIVER_TWINS(cuLaunchHostFunc, _ptsz, (CUstream hStream, CUhostFn fn, void *userData),
	tfsim_stream_host(hStream ? hStream : none, fn, userData))

struct callback {
	CUstreamCallback function;
	CUstream stream;
	void *data;
};

static void call_back(void *argument)
{
	struct callback *callback = argument;

	callback->function(callback->stream, CUDA_SUCCESS, callback->data);
}

static cudaError_t add_callback(CUstream stream, CUstreamCallback function, void *data)
{
	struct callback callback = {function, stream, data};
	const struct tfsim_work work = {
		.kind = TFSIM_HOST,
		.run = call_back,
		.args = &callback,
		.args_size = sizeof(callback),
	};

	if (!function)
		return cudaErrorInvalidValue;
	/* Not one that can be captured. */
	return tfsim_stream_capturing(stream) ? tfsim_stream_synchronize(stream)
					      : tfsim_enqueue(stream, &work);
}

SIM_DRIVER_TWINS(cuStreamAddCallback, _ptsz,
	(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags),
	flags ? cudaErrorInvalidValue : add_callback(hStream ? hStream : none, callback, userData))

SIM_DRIVER(
	cuEventCreate, (CUevent * phEvent, unsigned int Flags), tfsim_event_create(phEvent, Flags))

SIM_DRIVER(cuEventDestroy_v2, (CUevent hEvent), tfsim_event_destroy(hEvent))

SIM_DRIVER_TWINS(cuEventRecord, _ptsz, (CUevent hEvent, CUstream hStream),
	tfsim_event_record(hEvent, hStream ? hStream : none, 0))

SIM_DRIVER_TWINS(cuEventRecordWithFlags, _ptsz,
	(CUevent hEvent, CUstream hStream, unsigned int flags),
	tfsim_event_record(hEvent, hStream ? hStream : none, flags))

SIM_DRIVER(cuCtxRecordEvent, (CUcontext hCtx, CUevent hEvent),
	hCtx ? tfsim_event_record_device(hEvent) : cudaErrorInvalidValue)

SIM_DRIVER(cuEventQuery, (CUevent hEvent), tfsim_event_query(hEvent))

SIM_DRIVER(cuEventSynchronize, (CUevent hEvent), tfsim_event_synchronize(hEvent))

SIM_DRIVER(cuEventElapsedTime, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
	tfsim_event_elapsed(pMilliseconds, hStart, hEnd))

SIM_DRIVER(cuEventElapsedTime_v2, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
	tfsim_event_elapsed(pMilliseconds, hStart, hEnd))
