/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/wait.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

static void note_created(
	struct tfs_frame *frame, CUresult status, const CUstream *out, unsigned flags)
{
	tfs_note_created(frame, status, status == CUDA_SUCCESS ? *out : NULL, flags);
}

TFS_HOOK(CUresult, cuStreamCreate, (CUstream * out, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuStreamCreate);
	const CUresult status = TFS_REAL(cuStreamCreate)(out, flags);

	note_created(&frame, status, out, flags);
	return status;
}

TFS_HOOK(CUresult, cuStreamCreateWithPriority, (CUstream * out, unsigned flags, int priority))
{
	struct tfs_frame frame = TFS_ENTER(cuStreamCreateWithPriority);
	const CUresult status = TFS_REAL(cuStreamCreateWithPriority)(out, flags, priority);

	note_created(&frame, status, out, flags);
	return status;
}

TFS_HOOK(CUresult, cuGreenCtxStreamCreate,
	(CUstream * out, CUgreenCtx context, unsigned flags, int priority))
{
	struct tfs_frame frame = TFS_ENTER(cuGreenCtxStreamCreate);
	const CUresult status = TFS_REAL(cuGreenCtxStreamCreate)(out, context, flags, priority);

	note_created(&frame, status, out, flags);
	return status;
}

TFS_HOOK(CUresult, cuStreamDestroy_v2, (CUstream stream))
{
	struct tfs_frame frame = TFS_ENTER(cuStreamDestroy_v2);

	tfs_before_wait(&frame, TFS_SYNC_ENDS_STREAM, true);
	const CUresult status = TFS_REAL(cuStreamDestroy_v2)(stream);

	tfs_note_stream(&frame, status, stream, false);
	return status;
}

#define ON_STREAM(name, suffix, parameters, arguments)                                             \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		tfs_note_stream(&frame, status, stream, per_thread);                               \
		return status;                                                                     \
	}

TFS_STREAM_WAIT_HOOKS(CUresult, cuStreamSynchronize, CUstream)

TFS_STREAM_QUERY_HOOKS(CUresult, cuStreamQuery, CUstream)

ON_STREAM(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn function, void *data),
	(stream, function, data))
ON_STREAM(cuStreamAddCallback, _ptsz,
	(CUstream stream, CUstreamCallback callback, void *data, unsigned flags),
	(stream, callback, data, flags))

TFS_DEVICE_WAIT_HOOK(CUresult, cuCtxSynchronize, (void), (), NULL)
TFS_DEVICE_WAIT_HOOK(CUresult, cuCtxSynchronize_v2, (CUcontext context), (context), context)

#define WITH_EVENT(name, suffix, parameters, arguments)                                            \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		tfs_note_event(&frame, status, event, tfs_stream_id(stream, per_thread));          \
		return status;                                                                     \
	}

WITH_EVENT(cuStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags),
	(stream, event, flags))
WITH_EVENT(cuEventRecord, _ptsz, (CUevent event, CUstream stream), (event, stream))
WITH_EVENT(cuEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags),
	(event, stream, flags))

TFS_HOOK(CUresult, cuEventCreate, (CUevent * out, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuEventCreate);
	const CUresult status = TFS_REAL(cuEventCreate)(out, flags);

	tfs_note_event(&frame, status, status == CUDA_SUCCESS ? *out : NULL, TFS_NO_STREAM);
	return status;
}

TFS_HOOK(CUresult, cuEventDestroy_v2, (CUevent event))
{
	struct tfs_frame frame = TFS_ENTER(cuEventDestroy_v2);
	const CUresult status = TFS_REAL(cuEventDestroy_v2)(event);

	tfs_note_event(&frame, status, event, TFS_NO_STREAM);
	return status;
}

TFS_EVENT_WAIT_HOOK(CUresult, cuEventSynchronize, CUevent)

TFS_EVENT_QUERY_HOOK(CUresult, cuEventQuery, CUevent)

#define ELAPSED(name)                                                                              \
	TFS_HOOK(CUresult, name, (float *out, CUevent start, CUevent end))                         \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
                                                                                                   \
		tfs_before_wait(&frame, TFS_SYNC_ASKS, true);                                      \
		const CUresult status = TFS_REAL(name)(out, start, end);                           \
		tfs_hook_plain(&frame, status);                                                    \
		return status;                                                                     \
	}

ELAPSED(cuEventElapsedTime)
ELAPSED(cuEventElapsedTime_v2)

#define FUNCTIONS(X)                                                                               \
	X(cuStreamCreate, , , 2000, stream_create)                                                 \
	X(cuStreamCreateWithPriority, , , 5050, stream_create)                                     \
	X(cuGreenCtxStreamCreate, , , 12050, stream_create)                                        \
	X(cuStreamDestroy, _v2, , 4000, stream_destroy)                                            \
	X(cuStreamSynchronize, , , 2000, stream_sync)                                              \
	X(cuStreamSynchronize, , _ptsz, 7000, stream_sync)                                         \
	X(cuStreamQuery, , , 2000, query)                                                          \
	X(cuStreamQuery, , _ptsz, 7000, query)                                                     \
	X(cuLaunchHostFunc, , , 10000, host_func)                                                  \
	X(cuLaunchHostFunc, , _ptsz, 10000, host_func)                                             \
	X(cuStreamAddCallback, , , 5000, host_func)                                                \
	X(cuStreamAddCallback, , _ptsz, 7000, host_func)                                           \
	X(cuCtxSynchronize, , , 2000, device_sync)                                                 \
	X(cuCtxSynchronize, _v2, , 13000, device_sync)                                             \
	X(cuStreamWaitEvent, , , 3020, stream_wait)                                                \
	X(cuStreamWaitEvent, , _ptsz, 7000, stream_wait)                                           \
	X(cuEventCreate, , , 2000, event_create)                                                   \
	X(cuEventDestroy, _v2, , 4000, event_destroy)                                              \
	X(cuEventRecord, , , 2000, event_record)                                                   \
	X(cuEventRecord, , _ptsz, 7000, event_record)                                              \
	X(cuEventRecordWithFlags, , , 11010, event_record)                                         \
	X(cuEventRecordWithFlags, , _ptsz, 11010, event_record)                                    \
	X(cuEventSynchronize, , , 2000, event_sync)                                                \
	X(cuEventQuery, , , 2000, query)                                                           \
	X(cuEventElapsedTime, , , 2000, elapsed)                                                   \
	X(cuEventElapsedTime, _v2, , 12080, elapsed)

FUNCTIONS(TFS_DRIVER_ROW)
