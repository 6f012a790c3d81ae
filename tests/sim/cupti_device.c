/* SPDX-License-Identifier: MIT */
#include "cuda_handle.h"
#include "cupti_private.h"

/* The figures of the cost model's device, as cudaGetDeviceProperties tells them. */
void cupti_record_devices(void)
{
	int device;

	for (device = 0; device < tfsim_device_count(); device++) {
		CUpti_ActivityDevice5 record = {.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			.id = (uint32_t)device,
			.numThreadsPerWarp = 32,
			.numMemcpyEngines = 2,
			.maxThreadsPerBlock = 1024,
			.name = "Simulated GPU",
			.isCudaVisible = 1};

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
