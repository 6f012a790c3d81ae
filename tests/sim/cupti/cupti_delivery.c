/* SPDX-License-Identifier: MIT */
#include "tests/sim/cupti/cupti_private.h"

CUptiResult cuptiActivityRegisterCallbacks(
	CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cupti_buffers_register(request, complete);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult status = cupti_usable();

	if (!status)
		cupti_buffers_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return status;
}

/* The worker hands back full and complete buffers at once: there is nothing to speed up. */
CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	(void)time;
	return cupti_usable();
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped)
{
	(void)context;
	(void)streamId;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = cupti_buffers_dropped();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(
	uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record)
{
	size_t offset = 0, size;
	const CUpti_Activity *next;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record) {
		size = cupti_record_size((*record)->kind);
		if (!size)
			return CUPTI_ERROR_INVALID_KIND;
		offset = (size_t)((uint8_t *)*record - buffer) + size;
	}
	if (offset >= validBufferSizeBytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (offset + sizeof(CUpti_Activity) > validBufferSizeBytes)
		return CUPTI_ERROR_INVALID_KIND;
	next = (const CUpti_Activity *)(buffer + offset);
	size = cupti_record_size(next->kind);
	if (!size || offset + size > validBufferSizeBytes)
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)(buffer + offset);
	return CUPTI_SUCCESS;
}
