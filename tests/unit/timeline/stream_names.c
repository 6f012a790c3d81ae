/* SPDX-License-Identifier: MIT */
/* Which stream work ran on where devices number theirs alike or the recording does not say; and
 * calls and waits that are not in order. */
#include "rules/timeline/timeline.h"

#include "tests/unit/timeline/laid_out.h"

#define CUPTI_ID 7u
#define UNTOLD 55u /* by CUPTI's number no stream of the recording */

static void put_stream(uint16_t id, uint32_t cupti_id, uint32_t device, uint32_t flags)
{
	const struct tfs_stream_record record = {
		.id = id, .cupti_id = cupti_id, .flags = flags, .device = device};

	builder_record(builder, TFS_RECORD_stream, &record, sizeof(record));
}

static void put_work(uint16_t device, uint32_t stream, uint32_t correlation, uint64_t start_ns)
{
	const struct tfs_device_op_record record = {.operation = TFS_DEVICE_KERNEL,
		.start_ns = start_ns,
		.end_ns = start_ns + 100,
		.correlation = correlation,
		.stream = stream,
		.device = device};

	builder_record(builder, TFS_RECORD_device_op, &record, sizeof(record));
}

/* A number counts for its device; without one the calls say what the stream is. */
static void names(void)
{
	struct builder_call call = {.start_ns = 1000, .duration_ns = 10, .stream = 3};

	builder = builder_create();
	put_stream(1, CUPTI_ID, 0, 1);
	put_stream(2, CUPTI_ID, 1, 4);
	put_stream(3, 0, 1, 2);
	builder_link(builder, builder_call(builder, &call), 30);
	put_work(1, CUPTI_ID, 99, 2000);
	put_work(0, CUPTI_ID, 98, 3000);
	put_work(1, UNTOLD, 30, 4000);
	put_work(0, UNTOLD, 97, 5000);
	lay_out();
	TEST_NEED(timeline->stream_count == 4 && timeline->device_count == 2);
	TEST_EQ(timeline->streams[0].device, 0);
	TEST_EQ(timeline->streams[0].id, 1);
	TEST_EQ(timeline->streams[0].flags, 1);
	TEST_EQ(timeline->streams[1].cupti_id, UNTOLD);
	TEST_EQ(timeline->streams[1].id, TFS_NO_STREAM);
	TEST_EQ(timeline->streams[2].device, 1);
	TEST_EQ(timeline->streams[2].id, 2);
	TEST_EQ(timeline->streams[2].flags, 4);
	TEST_EQ(timeline->streams[3].id, 3);
	TEST_EQ(timeline->streams[3].flags, 2);
	for (uint32_t i = 0; i < 4; i++) {
		TEST_EQ(timeline->streams[i].op_count, 1);
		TEST_EQ(timeline->ops[timeline->streams[i].first_op].stream, i);
	}
	end();
}

/* A wait is of the step that its call is of. */
static void waits(void)
{
	const struct tfs_device_sync_record late = {.correlation = 30, .start_ns = 2010};
	const struct tfs_device_sync_record first = {.correlation = 31, .start_ns = 1500};

	builder = builder_create();
	builder_window(builder, true, 1, 999, 3);
	for (unsigned i = 0; i < 4; i++)
		builder_step(builder, i + 1, 1000 + i * 1000, TFS_PHASE_TRAINING, 2);
	builder_window(builder, false, 1, 5000, 3);
	builder_link(builder,
		builder_call(builder,
			&(struct builder_call){
				.start_ns = 1990, .duration_ns = 100, .stream = TFS_NO_STREAM}),
		30);
	builder_record(builder, TFS_RECORD_device_sync, &late, sizeof(late));
	builder_record(builder, TFS_RECORD_device_sync, &first, sizeof(first));
	lay_out();
	TEST_NEED(timeline->sync_count == 2);
	TEST_EQ(timeline->syncs[0].record->correlation, 31);
	TEST_EQ(timeline->syncs[0].call, TFS_NONE);
	TEST_EQ(timeline->syncs[0].step, 0);
	TEST_EQ(timeline->syncs[1].call, 0);
	TEST_EQ(timeline->syncs[1].step, 0);
	end();
}

/* A thread's calls are in order of time, however they were recorded, and each counts once. */
static void calls_out_of_order(void)
{
	static const uint64_t starts[] = {1000, 3000, 2000, 5000, 4000};
	const uint32_t count = sizeof(starts) / sizeof(*starts);
	struct tfs_operand operand;

	builder = builder_create();
	const uint16_t alloc = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "a");

	for (uint32_t i = 0; i < count; i++) {
		struct builder_call call = {.function = alloc,
			.start_ns = starts[i],
			.duration_ns = 10,
			.stream = TFS_NO_STREAM};

		builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), starts[i] << 12, 64);
		builder_call(builder, &call);
	}
	lay_out();
	TEST_NEED(timeline->call_count == count);
	TEST_EQ(timeline->range_count, count);
	for (uint32_t i = 0; i < count; i++) {
		unsigned cursor = 0;

		TEST_EQ(timeline->calls[i].start_ns, 1000 + i * 1000);
		TEST_NEED(tfs_operand_next(timeline, &timeline->calls[i], &cursor, &operand));
		TEST_EQ(operand.address, (1000 + i * UINT64_C(1000)) << 12);
		TEST_EQ(operand.range, i);
	}
	end();
}

int main(void)
{
	names();
	waits();
	calls_out_of_order();
	return test_result();
}
