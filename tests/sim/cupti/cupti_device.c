/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_device.h"
#include "tests/sim/cuda/cuda_handle.h"
#include "tests/sim/cupti/cupti_private.h"

static uint32_t attribute(int number, int device)
{
	int value = 0;

	tfsim_device_attribute(number, device, &value);
	return (uint32_t)value;
}

/* As cudaGetDeviceProperties tells it. */
static void describe(CUpti_ActivityDevice5 *record, int device)
{
	size_t unused, total = 0;

	tfsim_memory_info(&unused, &total);
	record->globalMemorySize = total;
	/* Kilobytes per second: two transfers per clock of the memory. */
	record->globalMemoryBandwidth = 2ull * attribute(cudaDevAttrMemoryClockRate, device) *
					attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
	record->l2CacheSize = attribute(cudaDevAttrL2CacheSize, device);
	record->numThreadsPerWarp = attribute(cudaDevAttrWarpSize, device);
	record->coreClockRate = attribute(cudaDevAttrClockRate, device);
	record->numMemcpyEngines = attribute(cudaDevAttrAsyncEngineCount, device);
	record->numMultiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
	record->maxBlocksPerMultiprocessor =
		attribute(cudaDevAttrMaxBlocksPerMultiprocessor, device);
	record->maxSharedMemoryPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock, device);
	record->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, device);
	record->computeCapabilityMajor = attribute(cudaDevAttrComputeCapabilityMajor, device);
	record->computeCapabilityMinor = attribute(cudaDevAttrComputeCapabilityMinor, device);
}

void cupti_record_devices(void)
{
	int device;

	for (device = 0; device < tfsim_device_count(); device++) {
		CUpti_ActivityDevice5 record = {.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			.id = (uint32_t)device,
			.name = tfsim_device_name(),
			.isCudaVisible = 1};

		describe(&record, device);
		cupti_append(CUPTI_SLOT_THREAD, &record, sizeof(record), 0);
	}
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	int device = sim_context_device(context, tfsim_device_count());

	if (!contextId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (device < 0)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*contextId = (uint32_t)device + 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	int device = context ? sim_context_device(context, tfsim_device_count())
			     : tfsim_device_current();

	if (!deviceId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (device < 0)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*deviceId = (uint32_t)device;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(
	CUcontext context, CUstream stream, uint8_t perThreadStream, uint32_t *streamId)
{
	unsigned long long id;

	(void)context;
	if (!streamId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!stream && perThreadStream)
		stream = CU_STREAM_PER_THREAD;
	if (tfsim_stream_id(stream, &id))
		return CUPTI_ERROR_INVALID_STREAM;
	*streamId = (uint32_t)id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId)
{
	return cuptiGetStreamIdEx(context, stream, 0, streamId);
}
