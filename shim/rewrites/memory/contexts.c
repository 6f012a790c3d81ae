/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/contexts.h"

#include <sched.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/memory/patience.h"
#include "shim/state/capture.h"

static const uint8_t of_contexts[] = {TFS_DIRECT_cuCtxGetCurrent, TFS_DIRECT_cuPointerGetAttribute,
	TFS_DIRECT_cuDevicePrimaryCtxGetState, TFS_DIRECT_cuDevicePrimaryCtxRetain,
	TFS_DIRECT_cuDevicePrimaryCtxRelease_v2};
static const uint8_t of_events[] = {TFS_DIRECT_cuEventCreate, TFS_DIRECT_cuCtxRecordEvent,
	TFS_DIRECT_cuEventQuery, TFS_DIRECT_cuEventDestroy_v2};

static bool have_driver(void)
{
	static _Atomic int known;

	return tfs_lookup_steady(TFS_LIBRARY_cuda) && TFS_DIRECT_THERE(of_contexts, &known);
}

void *tfs_context_now(void)
{
	CUcontext context = NULL;

	return have_driver() && TFS_DIRECT(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? context
										      : NULL;
}

void *tfs_context_of(const void *address)
{
	CUcontext context = NULL;

	return have_driver() && TFS_DIRECT(cuPointerGetAttribute)(&context,
					CU_POINTER_ATTRIBUTE_CONTEXT,
					(CUdeviceptr)(uintptr_t)address) == CUDA_SUCCESS
		       ? context
		       : NULL;
}

/* An idle device passes an event soon after it was recorded, not at once. */
static bool passes_soon(CUevent event)
{
	const struct tfs_patience patience = tfs_patience_begin(TFS_PATIENCE_GIVE_BACK);
	CUresult status = CUDA_ERROR_NOT_READY;

	/* A question would spoil a capture. */
	while (!tfs_capturing() &&
		(status = TFS_DIRECT(cuEventQuery)(event)) == CUDA_ERROR_NOT_READY &&
		tfs_patience_lasts(&patience))
		sched_yield();
	tfs_patience_end(&patience, status != CUDA_ERROR_NOT_READY);
	return status == CUDA_SUCCESS;
}

bool tfs_context_idle(void)
{
	static _Atomic int known;
	CUcontext context = tfs_context_now();
	CUevent event;

	if (!context || tfs_capturing() || !TFS_DIRECT_THERE(of_events, &known) ||
		TFS_DIRECT(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return false;
	const bool idle =
		TFS_DIRECT(cuCtxRecordEvent)(context, event) == CUDA_SUCCESS && passes_soon(event);
	TFS_DIRECT(cuEventDestroy_v2)(event);
	return idle;
}

bool tfs_context_is_active(uint32_t device)
{
	unsigned flags;
	int active = 0;

	return have_driver() &&
	       TFS_DIRECT(cuDevicePrimaryCtxGetState)((CUdevice)device, &flags, &active) ==
		       CUDA_SUCCESS &&
	       active != 0;
}

/* Retaining tells the handle, and would make the context if there were none. */
void *tfs_context_primary(uint32_t device)
{
	CUcontext context = NULL;

	if (!tfs_context_is_active(device) ||
		TFS_DIRECT(cuDevicePrimaryCtxRetain)(&context, (CUdevice)device) != CUDA_SUCCESS)
		return NULL;
	TFS_DIRECT(cuDevicePrimaryCtxRelease_v2)((CUdevice)device);
	return context;
}
