/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/contexts.h"

#include <sched.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/lookup.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/patience.h"
#include "shim/state/capture.h"

static struct {
	__typeof__(&cuCtxGetCurrent) current;
	__typeof__(&cuPointerGetAttribute) attribute;
	__typeof__(&cuDevicePrimaryCtxGetState) state;
	__typeof__(&cuDevicePrimaryCtxRetain) retain;
	__typeof__(&cuDevicePrimaryCtxRelease_v2) release;
} driver;

static struct {
	__typeof__(&cuEventCreate) create;
	__typeof__(&cuCtxRecordEvent) record;
	__typeof__(&cuEventQuery) query;
	__typeof__(&cuEventDestroy_v2) destroy;
} events;

static bool find(void)
{
#define LOOK_UP(field, name)                                                                       \
	(driver.field = (__typeof__(driver.field))tfs_lookup_named(TFS_LIBRARY_cuda, name))
	return LOOK_UP(current, "cuCtxGetCurrent") && LOOK_UP(attribute, "cuPointerGetAttribute") &&
	       LOOK_UP(state, "cuDevicePrimaryCtxGetState") &&
	       LOOK_UP(retain, "cuDevicePrimaryCtxRetain") &&
	       LOOK_UP(release, "cuDevicePrimaryCtxRelease_v2");
#undef LOOK_UP
}

static bool have_driver(void)
{
	static _Atomic int known;

	return tfs_lookup_steady(TFS_LIBRARY_cuda) && tfs_functions_found(&known, find);
}

void *tfs_context_now(void)
{
	CUcontext context = NULL;

	return have_driver() && driver.current(&context) == CUDA_SUCCESS ? context : NULL;
}

void *tfs_context_of(const void *address)
{
	CUcontext context = NULL;

	return have_driver() && driver.attribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT,
					(CUdeviceptr)(uintptr_t)address) == CUDA_SUCCESS
		       ? context
		       : NULL;
}

static bool find_events(void)
{
#define LOOK_UP(field, name)                                                                       \
	(events.field = (__typeof__(events.field))tfs_lookup_named(TFS_LIBRARY_cuda, name))
	return LOOK_UP(create, "cuEventCreate") && LOOK_UP(record, "cuCtxRecordEvent") &&
	       LOOK_UP(query, "cuEventQuery") && LOOK_UP(destroy, "cuEventDestroy_v2");
#undef LOOK_UP
}

/* An idle device passes an event soon after it was recorded, not at once. */
static bool passes_soon(CUevent event)
{
	const struct tfs_patience patience = tfs_patience_begin(TFS_PATIENCE_GIVE_BACK);
	CUresult status = CUDA_ERROR_NOT_READY;

	/* A question would spoil a capture. */
	while (!tfs_capturing() && (status = events.query(event)) == CUDA_ERROR_NOT_READY &&
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

	if (!context || tfs_capturing() || !tfs_functions_found(&known, find_events) ||
		events.create(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return false;
	const bool idle = events.record(context, event) == CUDA_SUCCESS && passes_soon(event);
	events.destroy(event);
	return idle;
}

bool tfs_context_is_active(uint32_t device)
{
	unsigned flags;
	int active = 0;

	return have_driver() && driver.state((CUdevice)device, &flags, &active) == CUDA_SUCCESS &&
	       active != 0;
}

/* Retaining tells the handle, and would make the context if there were none. */
void *tfs_context_primary(uint32_t device)
{
	CUcontext context = NULL;

	if (!tfs_context_is_active(device) ||
		driver.retain(&context, (CUdevice)device) != CUDA_SUCCESS)
		return NULL;
	driver.release((CUdevice)device);
	return context;
}
