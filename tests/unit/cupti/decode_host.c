/* SPDX-License-Identifier: MIT */
/* Calls and their links, waits, memory, overheads. */
#include "cupti/links.h"
#include "tests/unit/cupti/decode.h"

void add_host_work(void)
{
	CUpti_ActivityExternalCorrelation ours = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 9001, 50, 0};
	CUpti_ActivityExternalCorrelation others = ours, none = ours;
	CUpti_ActivityAPI api = {CUPTI_ACTIVITY_KIND_RUNTIME, 211, 10, 25, 1, 4321, 50, 2};
	CUpti_ActivityAPI endless = {
		CUPTI_ACTIVITY_KIND_DRIVER, 307, 1, UINT64_MAX / 2, 1, 1, 51, 0};
	CUpti_ActivitySynchronization2 sync = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
		.start = 5,
		.end = 6,
		.correlationId = 52,
		.contextId = 2,
		.streamId = 13,
		.cudaEventId = 0xffffffff};
	CUpti_ActivityMemory4 memory = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
		.correlationId = 54,
		.address = 0x7000,
		.bytes = 4096,
		.timestamp = 9,
		.processId = 4,
		.deviceId = 1};
	CUpti_ActivityOverhead3 overhead = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING,
		.start = 7,
		.end = 8,
		.correlationId = 53};

	others.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC;
	none.externalId = 0;
	add(&others, sizeof(others));
	add(&none, sizeof(none));
	add(&ours, sizeof(ours));
	add(&api, sizeof(api));
	add(&endless, sizeof(endless));
	add(&sync, sizeof(sync));
	add(&memory, sizeof(memory));
	add(&overhead, sizeof(overhead));
}

void check_host_work(const struct put *first)
{
	TEST_EQ(first[0].kind, TFS_RECORD_link);
	TEST_EQ(first[0].link.call_unit, 9001);
	TEST_EQ(first[0].link.correlation, 50);
	TEST_EQ(first[1].kind, TFS_RECORD_device_api);
	TEST_EQ(first[1].api.cbid, 211);
	TEST_EQ(first[1].api.correlation, 50);
	TEST_EQ(first[1].api.start_ns, 1010);
	TEST_EQ(first[1].api.duration_ns, 15);
	TEST_EQ(first[1].api.tid, 4321);
	TEST_EQ(first[1].api.status, 2);
	TEST_EQ(first[1].api.domain, TFS_LIBRARY_cudart);
	TEST_EQ(first[2].api.duration_ns, UINT32_MAX);
	TEST_EQ(first[2].api.domain, TFS_LIBRARY_cuda);
	TEST_EQ(first[3].kind, TFS_RECORD_device_sync);
	TEST_EQ(first[3].sync.type, 3);
	TEST_EQ(first[3].sync.correlation, 52);
	TEST_EQ(first[3].sync.start_ns, 1005);
	TEST_EQ(first[3].sync.end_ns, 1006);
	TEST_EQ(first[3].sync.stream, 13);
	TEST_EQ(first[3].sync.event, 0xffffffff);
	TEST_EQ(first[4].kind, TFS_RECORD_device_memory);
	TEST_EQ(first[4].memory.operation, 1);
	TEST_EQ(first[4].memory.correlation, 54);
	TEST_EQ(first[4].memory.address, 0x7000);
	TEST_EQ(first[4].memory.bytes, 4096);
	TEST_EQ(first[4].memory.memory, TFS_MEMORY_MANAGED);
	TEST_EQ(first[4].memory.device, 1);
	TEST_EQ(first[5].kind, TFS_RECORD_overhead);
	TEST_EQ(first[5].overhead.kind, 5);
	/* 11.8 has no correlation id there: what follows is the next record's. */
	TEST_EQ(first[5].overhead.correlation, layout->version < 20 ? 0 : 53);
	TEST_EQ(first[5].overhead.start_ns, 1007);
	TEST_EQ(first[5].overhead.end_ns, 1008);
}

static void add_call(uint32_t correlation, uint32_t cbid, bool linked)
{
	CUpti_ActivityExternalCorrelation link = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 9000, correlation, 0};
	CUpti_ActivityAPI api = {
		CUPTI_ACTIVITY_KIND_RUNTIME, cbid, 10, 25, 1, 4321, correlation, 0};

	if (linked)
		add(&link, sizeof(link));
	else
		add(&api, sizeof(api));
}

static bool keeps_launches(uint32_t cbid, bool driver)
{
	return cbid == 211 && !driver;
}

/* Of a call that is not kept neither its record nor its link is; a link whose call is in another
 * buffer is, whatever that call is. One call may lie within another. */
static void check_kept(void)
{
	static const uint32_t links[] = {60, 62, 63};
	unsigned found = 0;

	buffer_clear();
	keeps = keeps_launches;
	add_call(60, 211, true);
	add_call(61, 5, true);
	add_call(61, 5, false);
	add_call(60, 211, false);
	add_call(62, 211, true);
	add_call(62, 211, false);
	add_call(63, 5, true);
	decode(buffer_used(), 0);
	keeps = NULL;
	TEST_EQ(put_count, 5);
	for (unsigned i = 0; i < put_count; i++) {
		if (puts_[i].kind == TFS_RECORD_link)
			TEST_EQ(puts_[i].link.correlation, links[found++ % 3]);
		else
			TEST_EQ(puts_[i].api.cbid, 211);
	}
	TEST_EQ(found, 3);
}

/* More calls within each other than are remembered: the outermost links are written first. */
static void check_nested(void)
{
	buffer_clear();
	for (uint32_t i = 0; i < TFS_LINKS_MOST + 3; i++)
		add_call(100 + i, 211, true);
	decode(buffer_used(), 0);
	TEST_NEED(put_count == TFS_LINKS_MOST + 3);
	for (uint32_t i = 0; i < put_count; i++) {
		TEST_EQ(puts_[i].kind, TFS_RECORD_link);
		TEST_EQ(puts_[i].link.correlation, 100 + i);
	}
}

/* A call that ends as it begins, or before, took no time. */
static void check_short(void)
{
	CUpti_ActivityAPI short_ones[] = {
		{CUPTI_ACTIVITY_KIND_RUNTIME, 211, 10, 10, 1, 4321, 70, 0},
		{CUPTI_ACTIVITY_KIND_RUNTIME, 211, 10, 9, 1, 4321, 71, 0},
	};

	buffer_clear();
	add(&short_ones[0], sizeof(short_ones[0]));
	add(&short_ones[1], sizeof(short_ones[1]));
	decode(buffer_used(), 0);
	TEST_NEED(put_count == 2);
	for (uint32_t i = 0; i < put_count; i++) {
		TEST_EQ(puts_[i].api.correlation, 70 + i);
		TEST_EQ(puts_[i].api.duration_ns, 0);
	}
}

void check_calls(void)
{
	check_kept();
	check_nested();
	check_short();
}
