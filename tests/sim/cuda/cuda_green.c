/* SPDX-License-Identifier: MIT */
/* Green contexts of the simulated driver. Each is all of its device: their streams are those that
 * wait for no other, and their events stand behind all work of the device. */
#include "tests/sim/cuda/cuda_private.h"

static CUgreenCtx part_of(int device)
{
	static char parts[SIM_CONTEXT_DEVICES];

	return (CUgreenCtx)(void *)&parts[device];
}

static int device_of(CUgreenCtx part)
{
	for (int i = 0; i < tfsim_device_count(); i++)
		if (part == part_of(i))
			return i;
	return -1;
}

static cudaError_t create(CUgreenCtx *out, CUdevice device, unsigned flags)
{
	if (!out || flags != CU_GREEN_CTX_DEFAULT_STREAM)
		return cudaErrorInvalidValue;
	if (device < 0 || device >= tfsim_device_count())
		return cudaErrorInvalidDevice;
	*out = part_of(device);
	return cudaSuccess;
}

SIM_DRIVER(cuCtxWaitEvent, (CUcontext hCtx, CUevent hEvent),
	hCtx ? tfsim_device_wait(hEvent) : cudaErrorInvalidValue)

SIM_DRIVER(cuGreenCtxCreate,
	(CUgreenCtx * phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags),
	((void)desc, create(phCtx, dev, flags)))

SIM_DRIVER(cuGreenCtxDestroy, (CUgreenCtx hCtx),
	device_of(hCtx) < 0 ? cudaErrorInvalidValue : cudaSuccess)

SIM_DRIVER(cuGreenCtxStreamCreate,
	(CUstream * phStream, CUgreenCtx greenCtx, unsigned int flags, int priority),
	device_of(greenCtx) < 0 || !(flags & CU_STREAM_NON_BLOCKING)
		? cudaErrorInvalidValue
		: tfsim_stream_create(phStream, flags, priority))

SIM_DRIVER(cuGreenCtxRecordEvent, (CUgreenCtx hCtx, CUevent hEvent),
	device_of(hCtx) < 0 ? cudaErrorInvalidValue : tfsim_event_record_device(hEvent))

SIM_DRIVER(cuGreenCtxWaitEvent, (CUgreenCtx hCtx, CUevent hEvent),
	device_of(hCtx) < 0 ? cudaErrorInvalidValue : tfsim_device_wait(hEvent))
