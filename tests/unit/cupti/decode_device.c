/* SPDX-License-Identifier: MIT */
/* Kernels, copies, fills and graphs. */
#include "tests/unit/cupti/decode.h"

void add_device_work(void)
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

void check_device_work(void)
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

/* One without a name, and one that only asks for shared memory at its launch. */
void check_bare_kernels(void)
{
	CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

	buffer_clear();
	add(&kernel, sizeof(kernel));
	kernel.dynamicSharedMemory = 8;
	kernel.name = "gemm";
	add(&kernel, sizeof(kernel));
	decode(buffer_used(), 1000);
	TEST_EQ(put_count, 2);
	TEST_EQ(puts_[0].op.kernel, 0);
	TEST_EQ(puts_[0].op.flags, 1);
	TEST_EQ(puts_[0].op.start_ns, 0);
	TEST_EQ(puts_[1].op.kernel, 77);
	TEST_EQ(puts_[1].op.flags, 5);
}
