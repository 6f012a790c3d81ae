/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Order between contexts as a whole. An event of a context follows the work of streams that the
 * call does not name; it is written down as one of a stream that is not known. */
#define WITH_EVENT(name, type)                                                                     \
	TFS_HOOK(CUresult, name, (type context, CUevent event))                                    \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const CUresult status = TFS_REAL(name)(context, event);                            \
                                                                                                   \
		tfs_note_event(&frame, status, event, TFS_NO_STREAM);                              \
		return status;                                                                     \
	}

WITH_EVENT(cuCtxRecordEvent, CUcontext)
WITH_EVENT(cuCtxWaitEvent, CUcontext)
WITH_EVENT(cuGreenCtxRecordEvent, CUgreenCtx)
WITH_EVENT(cuGreenCtxWaitEvent, CUgreenCtx)

TFS_HOOK(CUresult, cuGreenCtxCreate,
	(CUgreenCtx * out, CUdevResourceDesc part, CUdevice device, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuGreenCtxCreate);
	const CUresult status = TFS_REAL(cuGreenCtxCreate)(out, part, device, flags);

	tfs_note_apart(&frame, status);
	return status;
}

TFS_PLAIN_HOOK(CUresult, cuGreenCtxDestroy, (CUgreenCtx context), (context))
TFS_PLAIN_HOOK(CUresult, cuCtxFromGreenCtx, (CUcontext * out, CUgreenCtx context), (out, context))

#define FUNCTIONS(X)                                                                               \
	X(cuCtxRecordEvent, , , 12050, event_record)                                               \
	X(cuCtxWaitEvent, , , 12050, stream_wait)                                                  \
	X(cuGreenCtxRecordEvent, , , 12040, event_record)                                          \
	X(cuGreenCtxWaitEvent, , , 12040, stream_wait)                                             \
	X(cuGreenCtxCreate, , , 12040, handle_create)                                              \
	X(cuGreenCtxDestroy, , , 12040, handle_destroy)                                            \
	X(cuCtxFromGreenCtx, , , 12040, handle)

FUNCTIONS(TFS_DRIVER_ROW)
