/* SPDX-License-Identifier: MIT */
/* What a library allocates for itself has records, and they name a call of the runtime inside it.
 */
#include <cupti_runtime_cbid.h>

#include "cupti_client.h"

#include <cuda_runtime_api.h>
#include <cudnn.h>

/* The cbid of the runtime call that a memory record belongs to. */
static uint32_t call_of(const struct record *memory)
{
	for (unsigned i = 0; i < record_count; i++)
		if (records[i].head.kind == CUPTI_ACTIVITY_KIND_RUNTIME &&
			records[i].api.correlationId == memory->memory.correlationId)
			return records[i].api.cbid;
	return CUPTI_RUNTIME_TRACE_CBID_INVALID;
}

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	const struct record *taken, *given;
	cudnnHandle_t dnn;
	int count = 0;

	if (!start_client(&subscriber))
		return test_skip("CUPTI cannot be subscribed to");
	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
		return test_skip("no device");
	OK(cudaFree(NULL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	OK(cudnnCreate(&dnn));
	OK(cudnnDestroy(dnn));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	TEST_NEED(count_records(CUPTI_ACTIVITY_KIND_MEMORY2) >= 2);
	taken = get_record(CUPTI_ACTIVITY_KIND_MEMORY2, 0);
	given = get_record(
		CUPTI_ACTIVITY_KIND_MEMORY2, count_records(CUPTI_ACTIVITY_KIND_MEMORY2) - 1);
	TEST_EQ(taken->memory.memoryOperationType, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
	TEST_EQ(given->memory.memoryOperationType, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
	TEST_TRUE(taken->memory.bytes >= 1 << 20);
	TEST_EQ(given->memory.address, taken->memory.address);
	TEST_EQ(given->memory.bytes, taken->memory.bytes);
	TEST_EQ(call_of(taken), CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
	TEST_EQ(call_of(given), CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
	return test_result();
}
