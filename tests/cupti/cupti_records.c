/* SPDX-License-Identifier: MIT */
/* Each piece of device work has one record, tied to the record of the call that asked for it. */
#include "cupti_client.h"

#define BYTES 100000

static const struct record *api_of(uint32_t correlation)
{
	static const struct record none;
	unsigned i;

	for (i = 0; i < record_count; i++)
		if (records[i].head.kind == CUPTI_ACTIVITY_KIND_DRIVER &&
			records[i].api.correlationId == correlation)
			return &records[i];
	return &none;
}

static void work(CUfunction kernel, CUstream stream)
{
	static char pageable[BYTES];
	CUdeviceptr memory;
	void *pinned;

	OK(cuMemAlloc(&memory, BYTES));
	OK(cuMemHostAlloc(&pinned, BYTES, 0));
	memset(pinned, 1, BYTES);
	OK(cuMemcpyHtoDAsync(memory, pinned, BYTES, stream));
	OK(cuMemsetD8Async(memory, 7, BYTES / 2, stream));
	OK(launch(kernel, stream));
	OK(cuMemcpyDtoHAsync(pinned, memory, BYTES, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyHtoD(memory, pageable, BYTES));
	OK(cuMemFreeHost(pinned));
	OK(cuMemFree(memory));
}

static void check_copy(unsigned n, int kind, int source, int target, bool async, unsigned cbid)
{
	const CUpti_ActivityMemcpy6 *copy = &get_record(CUPTI_ACTIVITY_KIND_MEMCPY, n)->copy;

	TEST_EQ(copy->copyKind, kind);
	TEST_EQ(copy->srcKind, source);
	TEST_EQ(copy->dstKind, target);
	TEST_EQ(copy->flags & 1, async);
	TEST_EQ(copy->bytes, BYTES);
	TEST_TRUE(copy->start < copy->end);
	TEST_EQ(api_of(copy->correlationId)->api.cbid, cbid);
}

static void check_order(uint64_t before, uint64_t after)
{
	const CUpti_ActivityKernel10 *kernel =
		&get_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0)->kernel;
	const CUpti_ActivityMemset4 *set = &get_record(CUPTI_ACTIVITY_KIND_MEMSET, 0)->set;
	const CUpti_ActivityMemcpy6 *first = &get_record(CUPTI_ACTIVITY_KIND_MEMCPY, 0)->copy;
	const CUpti_ActivityMemcpy6 *second = &get_record(CUPTI_ACTIVITY_KIND_MEMCPY, 1)->copy;

	TEST_TRUE(before <= first->start && first->end <= set->start);
	TEST_TRUE(set->end <= kernel->start && kernel->end <= second->start);
	TEST_TRUE(second->end <= after);
	TEST_TRUE(api_of(kernel->correlationId)->api.start <= kernel->start);
}

static void check_kernel(CUstream stream)
{
	const CUpti_ActivityKernel10 *kernel =
		&get_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0)->kernel;
	uint32_t id = 0;

	TEST_STR(kernel->name, "idle");
	TEST_EQ(kernel->gridX, 3);
	TEST_EQ(kernel->gridY, 2);
	TEST_EQ(kernel->blockX, 64);
	OK(cuptiGetStreamId(NULL, stream, &id));
	TEST_EQ(kernel->streamId, id);
	TEST_EQ(api_of(kernel->correlationId)->api.cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	TEST_EQ(api_of(kernel->correlationId)->api.returnValue, 0);
}

static void enable_all(void)
{
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
}

static void disable_all(void)
{
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMORY2));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
}

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	CUfunction kernel;
	CUstream stream;
	uint64_t before, after;
	size_t dropped = 99;
	unsigned seen;

	if (!start_client(&subscriber))
		return test_skip("CUPTI is not to be had");
	if (!start_driver(&kernel))
		return test_skip("no device");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	enable_all();
	before = monotonic_ns();
	work(kernel, stream);
	OK(cuCtxSynchronize());
	after = monotonic_ns();
	disable_all();
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	TEST_EQ(dropped, 0);

	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_MEMCPY), 3);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_MEMSET), 1);
	TEST_EQ(get_record(CUPTI_ACTIVITY_KIND_MEMSET, 0)->set.bytes, BYTES / 2);
	check_kernel(stream);
	check_copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2, 3, true,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2);
	check_copy(1, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 3, 2, true,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2);
	check_copy(2, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1, 3, false,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2);
	check_order(before, after);
	TEST_TRUE(count_records(CUPTI_ACTIVITY_KIND_MEMORY2) >= 2);
	TEST_TRUE(count_records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) >= 2);

	seen = record_count;
	work(kernel, stream);
	OK(cuCtxSynchronize());
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	TEST_EQ(record_count, seen);
	OK(cuptiUnsubscribe(subscriber));
	return test_result();
}
