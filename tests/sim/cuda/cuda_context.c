/* SPDX-License-Identifier: MIT */
/*
 * Contexts: which is current, and their beginnings and ends. Memory and streams belong to one; the
 * legacy stream is the device's.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/sim/core/core_device.h"
#include "tests/sim/cuda/cuda_private.h"

#define STACK 32
#define CREATED 64

static atomic_bool initialised;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned retained[SIM_CONTEXT_DEVICES];
static bool created[CREATED];

/* The stack of the thread; empty = what the runtime's current device says. The top is what the
 * core has, since the runtime changes it too. */
static __thread CUcontext stack[STACK];
static __thread unsigned depth;

CUresult cuInit(unsigned int flags)
{
	struct tfsim_api api;
	CUresult result = CUDA_SUCCESS;

	tfsim_api_enter(&api, TFSIM_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuInit, "cuInit", NULL);
	if (flags)
		result = CUDA_ERROR_INVALID_VALUE;
	else if (!tfsim_device_count())
		result = CUDA_ERROR_NO_DEVICE;
	else
		atomic_store(&initialised, true);
	tfsim_api_exit(&api, (int)result);
	return result;
}

/* A library that uses the device has started the driver by the runtime inside it. */
bool sim_driver_initialised(void)
{
	return atomic_load(&initialised) || tfsim_device_active(tfsim_device_current()) ||
	       (tfsim_runtime_called() && tfsim_device_count() > 0);
}

static CUcontext current(void)
{
	int device = tfsim_device_current();

	if (depth)
		return sim_context_numbered(device, tfsim_context_current());
	return tfsim_device_active(device) ? sim_context_handle(device) : NULL;
}

int sim_driver_current_device(void)
{
	return sim_context_device(current(), tfsim_device_count());
}

CUresult sim_driver_ready(void)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	return current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_driver_result(int error)
{
	switch (error) {
	case cudaErrorInvalidDeviceFunction:
		return CUDA_ERROR_INVALID_HANDLE;
	case cudaErrorNoKernelImageForDevice:
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	default:
		return error > 5 && error < 100 ? CUDA_ERROR_INVALID_VALUE : (CUresult)error;
	}
}

static bool valid(CUcontext context)
{
	int device = sim_context_device(context, tfsim_device_count());
	unsigned number = sim_context_number(context);

	return device >= 0 && (number == 0 || (number < CREATED && created[number]));
}

static CUresult make_current(CUcontext context)
{
	int device = sim_context_device(context, tfsim_device_count());

	return device < 0 ? CUDA_SUCCESS
			  : sim_driver_result(
				    (int)tfsim_context_set(device, sim_context_number(context)));
}

/* Below the last one is the runtime's device. */
static CUresult pop(void)
{
	depth--;
	return depth ? make_current(stack[depth - 1])
		     : sim_driver_result((int)tfsim_device_set(tfsim_device_current()));
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = current();
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (ctx && !valid(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctx)
		return depth ? pop() : CUDA_SUCCESS;
	if (!depth)
		depth = 1;
	return make_current(ctx);
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!ctx || !valid(ctx) || depth == STACK)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth)
		stack[depth - 1] = current();
	depth++;
	return make_current(ctx);
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = current();
	return pop();
}

static CUresult create(CUcontext *pctx, CUdevice dev)
{
	unsigned number;

	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (dev < 0 || dev >= tfsim_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&lock);
	for (number = 1; number < CREATED && created[number]; number++)
		;
	if (number < CREATED)
		created[number] = true;
	pthread_mutex_unlock(&lock);
	if (number == CREATED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*pctx = sim_context_numbered(dev, number);
	return cuCtxPushCurrent_v2(*pctx);
}

CUresult cuCtxCreate_v4(
	CUcontext *pctx, CUctxCreateParams *params, unsigned int flags, CUdevice dev)
{
	(void)params;
	(void)flags;
	return create(pctx, dev);
}

CUresult cuCtxCreate_v3(
	CUcontext *pctx, CUexecAffinityParam *params, int count, unsigned int flags, CUdevice dev)
{
	(void)params;
	(void)count;
	(void)flags;
	return create(pctx, dev);
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	(void)flags;
	return create(pctx, dev);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	unsigned number = sim_context_number(ctx);
	CUresult result;

	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!valid(ctx) || !number)
		return CUDA_ERROR_INVALID_CONTEXT;
	result = sim_driver_result(
		(int)tfsim_context_end(sim_context_device(ctx, tfsim_device_count()), number));
	if (result)
		return result;
	created[number] = false;
	return depth && current() == ctx ? pop() : CUDA_SUCCESS;
}

SIM_DRIVER(cuCtxSynchronize, (void), tfsim_device_synchronize())

SIM_DRIVER(cuCtxSynchronize_v2, (CUcontext ctx),
	!ctx || valid(ctx) ? (int)tfsim_device_synchronize() : (int)CUDA_ERROR_INVALID_CONTEXT)

SIM_DRIVER(cuCtxGetDevice, (CUdevice * device),
	device ? (*device = sim_driver_current_device(), 0) : (int)CUDA_ERROR_INVALID_VALUE)

SIM_DRIVER(cuCtxGetStreamPriorityRange, (int *least, int *greatest),
	((least ? (*least = 0) : 0), (greatest ? (*greatest = -5) : 0), 0))

SIM_DRIVER(cuCtxGetFlags, (unsigned int *flags),
	flags ? (*flags = 0, 0) : (int)CUDA_ERROR_INVALID_VALUE)

SIM_DRIVER(cuCtxEnablePeerAccess, (CUcontext peerContext, unsigned int Flags),
	Flags ? (int)CUDA_ERROR_INVALID_VALUE
	      : (int)(valid(peerContext) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT))

SIM_DRIVER(cuCtxDisablePeerAccess, (CUcontext peerContext),
	(int)(valid(peerContext) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT))

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!version || (ctx && !valid(ctx)))
		return version ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
	*version = 3020;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	ctx = ctx ? ctx : current();
	if (!ctxId || !ctx || !valid(ctx))
		return ctxId ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
	*ctxId = (uintptr_t)ctx;
	return CUDA_SUCCESS;
}

static CUresult primary_check(CUdevice dev)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	return dev < 0 || dev >= tfsim_device_count() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	CUresult result = primary_check(dev);

	if (result)
		return result;
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	retained[dev]++;
	pthread_mutex_unlock(&lock);
	*pctx = sim_context_handle(dev);
	return CUDA_SUCCESS;
}

/* The runtime, once it is at work, has retained it too. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult result = primary_check(dev);
	bool last = false;

	if (result)
		return result;
	pthread_mutex_lock(&lock);
	if (retained[dev])
		last = --retained[dev] == 0 && !tfsim_runtime_called();
	else
		result = CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_unlock(&lock);
	if (!last)
		return result;
	result = sim_driver_result((int)tfsim_device_reset(dev));
	tfsim_device_leave(dev);
	return result;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	CUresult result = primary_check(dev);

	if (result)
		return result;
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = 0;
	*active = retained[dev] || tfsim_device_begun(dev);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	(void)flags;
	return primary_check(dev);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	CUresult result = primary_check(dev);

	return result ? result : sim_driver_result((int)tfsim_device_reset(dev));
}

/* The ABIs that the runtime asks for. */
CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
	return cuDevicePrimaryCtxReset_v2(dev);
}
