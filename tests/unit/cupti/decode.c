/* SPDX-License-Identifier: MIT */
/* Buffers as CUPTI 11.8, 13.0 and a version to come lay them out: the same activities give the same
 * records, whatever a record's length and whatever stands behind the fields that all share. With
 * the path of a real CUPTI as argument: the same with its lengths and its way from one record to
 * the next. */
#include <dlfcn.h>

#include "cupti/decode.h"
#include "cupti/links.h"
#include "tests/test.h"

#define MOST 64
#define FILLER 0xa5

struct layout {
	uint32_t version;
	size_t kernel, copy, peer, set, sync, overhead, graph, memory;
};

static const struct layout layouts[] = {
	{18, 200, 88, 96, 88, 40, 40, 48, 120},
	{130001, 216, 96, 96, 88, 56, 56, 56, 128},
	{140000, 320, 128, 136, 104, 72, 80, 96, 160},
};

/* What is read stands where the structs of 11.8 have it. */
#define SAME_PLACE(old, fresh, field)                                                              \
	_Static_assert(offsetof(old, field) == offsetof(fresh, field), #old " " #field)
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, start);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, streamId);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, blockZ);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, staticSharedMemory);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, correlationId);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, name);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, graphNodeId);
SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, correlationId);
SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, graphNodeId);
SAME_PLACE(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, cudaEventId);
SAME_PLACE(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, end);
SAME_PLACE(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, streamId);
SAME_PLACE(CUpti_ActivityMemory2, CUpti_ActivityMemory4, deviceId);
SAME_PLACE(CUpti_ActivityMemory3, CUpti_ActivityMemory4, deviceId);

static const struct layout *layout;
static __typeof__(cuptiActivityGetNextRecord) *next_of_library;
static union {
	uint64_t align;
	uint8_t bytes[16384];
} buffer;
static size_t used;

static struct put {
	enum tfs_record_kind kind;
	union {
		struct tfs_device_op_record op;
		struct tfs_device_sync_record sync;
		struct tfs_device_api_record api;
		struct tfs_overhead_record overhead;
		struct tfs_link_record link;
		struct tfs_device_memory_record memory;
	};
} puts_[MOST];
static unsigned put_count, lost_count;

static size_t size_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return layout->kernel;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return layout->copy;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return layout->peer;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return layout->set;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return layout->sync;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return layout->overhead;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return layout->graph;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return layout->memory;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return 24;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return 40;
	case CUPTI_ACTIVITY_KIND_FORCE_INT:
		return 0;
	default:
		return 48;
	}
}

/* What the library says of a record that it cannot go past. */
static CUptiResult broken_status = CUPTI_ERROR_INVALID_KIND;

static CUptiResult next(uint8_t *bytes, size_t valid, CUpti_Activity **record)
{
	size_t offset = 0;

	if (next_of_library)
		return next_of_library(bytes, valid, record);
	if (*record)
		offset = (size_t)((uint8_t *)*record - bytes) + size_of((*record)->kind);
	if (offset >= valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!size_of(((CUpti_Activity *)(bytes + offset))->kind))
		return broken_status;
	*record = (CUpti_Activity *)(bytes + offset);
	return CUPTI_SUCCESS;
}

static void put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	if (put_count == MOST || !TEST_TRUE(bytes <= sizeof(puts_[0].op)))
		return;
	puts_[put_count].kind = kind;
	memcpy(&puts_[put_count++].op, record, bytes);
}

static uint32_t intern(const char *name)
{
	return strcmp(name, "gemm") ? 1 : 77;
}

static void lose(enum tfs_loss loss, uint64_t count)
{
	TEST_EQ(loss, TFS_LOSS_cupti_unknown);
	lost_count += (unsigned)count;
}

/* What a layout cuts off or adds is not ours to read: the rest is filler. */
static void add(const void *record, size_t bytes)
{
	size_t size = size_of(((const CUpti_Activity *)record)->kind);

	memset(buffer.bytes + used, FILLER, size);
	memcpy(buffer.bytes + used, record, bytes < size ? bytes : size);
	used += size;
}

static bool (*keeps)(uint32_t cbid, bool driver);
static uint64_t from_ns;

static void decode(size_t valid, int64_t offset_ns)
{
	const struct tfs_decoder decoder = {.next = next,
		.version = layout->version,
		.from_ns = from_ns,
		.offset_ns = offset_ns,
		.put = put,
		.keeps = keeps,
		.kernel = intern,
		.lost = lose};

	put_count = 0;
	lost_count = 0;
	tfs_cupti_decode(&decoder, buffer.bytes, valid);
}

static void add_device_work(void)
{
	CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = 100,
		.end = 250,
		.deviceId = 1,
		.contextId = 2,
		.streamId = 13,
		.gridX = 70000,
		.gridY = 2,
		.gridZ = 3,
		.blockX = 1024,
		.blockY = 5,
		.blockZ = 6,
		.staticSharedMemory = 1024,
		.correlationId = 42,
		.name = "gemm",
		.graphNodeId = 5};
	CUpti_ActivityMemcpy6 copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = 1,
		.srcKind = 1,
		.dstKind = 3,
		.bytes = 5000000000,
		.start = 300,
		.deviceId = 1,
		.contextId = 2,
		.streamId = 7,
		.correlationId = 43,
		.runtimeCorrelationId = 99};
	CUpti_ActivityMemcpyPtoP4 peer = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = 10,
		.srcKind = 3,
		.dstKind = 5,
		.flags = 1,
		.bytes = 9,
		.start = 400,
		.end = 450,
		.deviceId = 1,
		.contextId = 2,
		.streamId = 14,
		.srcDeviceId = 3,
		.srcContextId = 4,
		.dstDeviceId = 5,
		.dstContextId = 6,
		.correlationId = 44,
		.graphNodeId = 8};
	CUpti_ActivityMemset4 set = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = 0xff,
		.bytes = 16,
		.start = 500,
		.end = 550,
		.deviceId = 1,
		.contextId = 2,
		.streamId = 15,
		.flags = 1,
		.memoryKind = 3,
		.correlationId = 45};
	CUpti_ActivityGraphTrace2 graph = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		.correlationId = 46,
		.start = 600,
		.end = 650,
		.deviceId = 1,
		.graphId = 2,
		.contextId = 3,
		.streamId = 9};

	add(&kernel, sizeof(kernel));
	add(&copy, sizeof(copy));
	add(&peer, sizeof(peer));
	add(&set, sizeof(set));
	add(&graph, sizeof(graph));
}

static void check_device_work(void)
{
	const struct tfs_device_op_record *op = &puts_[0].op;
	unsigned i;

	for (i = 0; i < 5; i++) {
		TEST_EQ(puts_[i].kind, TFS_RECORD_device_op);
		TEST_EQ(puts_[i].op.correlation, 42 + i);
		TEST_EQ(puts_[i].op.device, 1);
	}
	TEST_EQ(op->operation, TFS_DEVICE_KERNEL);
	TEST_EQ(op->kernel, 77);
	TEST_EQ(op->start_ns, 1100);
	TEST_EQ(op->end_ns, 1250);
	TEST_EQ(op->stream, 13);
	for (i = 0; i < 3; i++) {
		TEST_EQ(op->grid[i], i == 0 ? 70000 : i + 1);
		TEST_EQ(op->block[i], i == 0 ? 1024 : i + 4);
	}
	TEST_EQ(op->flags, 7);
	op = &puts_[1].op;
	TEST_EQ(op->operation, TFS_DEVICE_MEMCPY);
	TEST_EQ(op->copy_kind, 1);
	TEST_EQ(op->bytes, 5000000000);
	TEST_EQ(op->stream, 7);
	TEST_EQ(op->source_kind, TFS_MEMORY_PAGEABLE);
	TEST_EQ(op->target_kind, TFS_MEMORY_DEVICE);
	TEST_EQ(op->flags, 0);
	TEST_EQ(op->start_ns, 1300);
	TEST_EQ(op->end_ns, 0); /* lost stays lost */
	for (i = 2; i < 5; i++) {
		TEST_EQ(puts_[i].op.start_ns, 1200 + 100 * i);
		TEST_EQ(puts_[i].op.end_ns, 1250 + 100 * i);
	}
	op = &puts_[2].op;
	TEST_EQ(op->operation, TFS_DEVICE_MEMCPY);
	TEST_EQ(op->copy_kind, 10);
	TEST_EQ(op->bytes, 9);
	TEST_EQ(op->source_kind, TFS_MEMORY_DEVICE);
	TEST_EQ(op->target_kind, TFS_MEMORY_MANAGED);
	TEST_EQ(op->stream, 14);
	TEST_EQ(op->flags, 3);
	op = &puts_[3].op;
	TEST_EQ(op->operation, TFS_DEVICE_MEMSET);
	TEST_EQ(op->bytes, 16);
	TEST_EQ(op->target_kind, TFS_MEMORY_DEVICE);
	TEST_EQ(op->stream, 15);
	TEST_EQ(op->flags, 1);
	op = &puts_[4].op;
	TEST_EQ(op->operation, TFS_DEVICE_GRAPH);
	TEST_EQ(op->stream, 9);
	TEST_EQ(op->flags, 1);
}

static void add_host_work(void)
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

static void check_host_work(const struct put *first)
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

/* One without a name, and one that only asks for shared memory at its launch. */
static void check_bare_kernels(void)
{
	CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

	used = 0;
	add(&kernel, sizeof(kernel));
	kernel.dynamicSharedMemory = 8;
	kernel.name = "gemm";
	add(&kernel, sizeof(kernel));
	decode(used, 1000);
	TEST_EQ(put_count, 2);
	TEST_EQ(puts_[0].op.kernel, 0);
	TEST_EQ(puts_[0].op.flags, 1);
	TEST_EQ(puts_[0].op.start_ns, 0);
	TEST_EQ(puts_[1].op.kernel, 77);
	TEST_EQ(puts_[1].op.flags, 5);
}

static void check_damage(size_t whole)
{
	CUpti_Activity marker = {CUPTI_ACTIVITY_KIND_MARKER};
	CUpti_Activity unheard_of = {(CUpti_ActivityKind)200};
	CUpti_Activity broken = {CUPTI_ACTIVITY_KIND_FORCE_INT};

	/* Cut inside the last record: its fields are not all there. */
	decode(whole - layout->overhead + 8, 1000);
	TEST_EQ(lost_count, 1);
	TEST_EQ(put_count, 10);
	add(&marker, sizeof(marker));
	add(&unheard_of, sizeof(unheard_of));
	decode(used, 1000);
	TEST_EQ(lost_count, 2);
	TEST_EQ(put_count, 11);
	memcpy(buffer.bytes + used, &broken, sizeof(broken));
	for (unsigned i = 0; i < 2; i++) {
		broken_status = i ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_ERROR_INVALID_KIND;
		decode(used + 64, 1000);
		TEST_EQ(lost_count, 3);
		TEST_EQ(put_count, 11);
	}
}

/* The length of a record of this kind, from where the library finds the next one. */
static size_t stride(uint32_t kind)
{
	CUpti_Activity *record = NULL;
	size_t i;

	/* The same kind wherever the second record may begin. */
	memset(buffer.bytes, 0, 1024);
	for (i = 0; i < 1024; i += 8)
		memcpy(buffer.bytes + i, &kind, sizeof(kind));
	if (next_of_library(buffer.bytes, 1024, &record) ||
		next_of_library(buffer.bytes, 1024, &record))
		return 0;
	return (size_t)((uint8_t *)record - buffer.bytes);
}

static int check_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct layout real;

	if (!library)
		printf("%s\n", dlerror());
	TEST_NEED(library);
	next_of_library = (__typeof__(next_of_library))dlsym(library, "cuptiActivityGetNextRecord");
	__typeof__(&cuptiGetVersion) version =
		(__typeof__(version))dlsym(library, "cuptiGetVersion");
	TEST_NEED(next_of_library && version);
	TEST_EQ(version(&real.version), CUPTI_SUCCESS);
	real.kernel = stride(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	real.copy = stride(CUPTI_ACTIVITY_KIND_MEMCPY);
	real.peer = stride(CUPTI_ACTIVITY_KIND_MEMCPY2);
	real.set = stride(CUPTI_ACTIVITY_KIND_MEMSET);
	real.sync = stride(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	real.overhead = stride(CUPTI_ACTIVITY_KIND_OVERHEAD);
	real.graph = stride(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	real.memory = stride(CUPTI_ACTIVITY_KIND_MEMORY2);
	printf("CUPTI %u: kernel %zu, copy %zu, peer %zu, set %zu, sync %zu, overhead %zu, graph %zu, memory %zu\n",
		real.version, real.kernel, real.copy, real.peer, real.set, real.sync, real.overhead,
		real.graph, real.memory);
	layout = &real;
	TEST_EQ(stride(CUPTI_ACTIVITY_KIND_RUNTIME), size_of(CUPTI_ACTIVITY_KIND_RUNTIME));
	TEST_EQ(stride(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION),
		size_of(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	add_device_work();
	add_host_work();
	decode(used, 1000);
	TEST_EQ(put_count, 11);
	TEST_EQ(lost_count, 0);
	check_device_work();
	check_host_work(&puts_[5]);
	return test_result();
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

	used = 0;
	keeps = keeps_launches;
	add_call(60, 211, true);
	add_call(61, 5, true);
	add_call(61, 5, false);
	add_call(60, 211, false);
	add_call(62, 211, true);
	add_call(62, 211, false);
	add_call(63, 5, true);
	decode(used, 0);
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
	used = 0;
	for (uint32_t i = 0; i < TFS_LINKS_MOST + 3; i++)
		add_call(100 + i, 211, true);
	decode(used, 0);
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

	used = 0;
	add(&short_ones[0], sizeof(short_ones[0]));
	add(&short_ones[1], sizeof(short_ones[1]));
	decode(used, 0);
	TEST_NEED(put_count == 2);
	for (uint32_t i = 0; i < put_count; i++) {
		TEST_EQ(puts_[i].api.correlation, 70 + i);
		TEST_EQ(puts_[i].api.duration_ns, 0);
	}
}

/* What ended before is left out, and nothing else: neither what lost its end, nor what has none. */
static void check_early(void)
{
	static const enum tfs_record_kind left[] = {TFS_RECORD_device_op, TFS_RECORD_device_op,
		TFS_RECORD_device_op, TFS_RECORD_device_api, TFS_RECORD_overhead, TFS_RECORD_link};

	used = 0;
	add_device_work();
	add_host_work();
	from_ns = 1451;
	decode(used, 1000);
	from_ns = 0;
	TEST_EQ(lost_count, 0);
	TEST_EQ(put_count, 6);
	for (unsigned i = 0; i < 6; i++)
		TEST_EQ(puts_[i].kind, left[i]);
	TEST_EQ(puts_[0].op.correlation, 43);
	TEST_EQ(puts_[1].op.correlation, 45);
	TEST_EQ(puts_[2].op.correlation, 46);
	TEST_EQ(puts_[3].api.correlation, 51);
}

int main(int count, char **words)
{
	unsigned i;

	if (count > 1)
		return check_library(words[1]);

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		layout = &layouts[i];
		memset(buffer.bytes, FILLER, sizeof(buffer.bytes));
		used = 0;
		decode(0, 0);
		TEST_EQ(put_count + lost_count, 0);
		add_device_work();
		add_host_work();
		decode(used, 1000);
		TEST_EQ(put_count, 11);
		TEST_EQ(lost_count, 0);
		check_device_work();
		check_host_work(&puts_[5]);
		check_damage(used);
		check_bare_kernels();
		check_kept();
		check_nested();
		check_short();
		check_early();
	}
	return test_result();
}
