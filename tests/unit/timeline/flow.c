/* SPDX-License-Identifier: MIT */
/* Who wrote what a call reads, where accesses overlap, and who uses it next. */
#include "rules/timeline/flow.h"

#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define MEMORY UINT64_C(0x10000)
#define BYTES 0x1000u

static struct builder *builder;
static struct tfs_timeline *timeline;
static uint64_t now = 1000;

/* `bytes` of 0: how much it touches is not known. */
static void touch(uint16_t function, uint32_t role, uint64_t offset, uint64_t bytes)
{
	struct builder_call call = {
		.function = function, .start_ns = now, .duration_ns = 10, .amount = bytes};

	builder_operand(&call, role, MEMORY + offset, bytes);
	builder_call(builder, &call);
	now += 100;
}

/* The call that wrote last what is read there by the nth one, or TFS_NONE. */
static uint32_t writer(uint32_t nth, uint64_t offset, uint64_t bytes)
{
	const struct tfs_operand operand = {.address = MEMORY + offset, .bytes = bytes};
	const struct tfs_access *access = tfs_flow_writer(timeline, nth, &operand);

	return access ? access->call : TFS_NONE;
}

static uint32_t next_use(uint32_t nth, uint64_t offset, uint64_t bytes)
{
	const struct tfs_operand operand = {.address = MEMORY + offset, .bytes = bytes};
	const struct tfs_access *access = tfs_flow_next_use(timeline, nth, &operand);

	return access ? access->call : TFS_NONE;
}

static struct tfs_trace *record(void)
{
	const uint16_t alloc = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "a");
	const uint16_t set = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_set, "s");

	builder_window(builder, true, 1, now - 1, 3);
	touch(alloc, TFS_ROLE_WRITE, 0, BYTES); /* call 0, which writes nothing */
	touch(set, TFS_ROLE_WRITE, 0, 0x100);
	touch(set, TFS_ROLE_WRITE, 0x80, 0x20); /* inside of that */
	touch(set, TFS_ROLE_READ, 0, 0x40);
	touch(set, TFS_ROLE_MAYBE, 0x800, 0); /* to the end, perhaps */
	touch(set, TFS_ROLE_READ, 0x800, 0x40);
	touch(set, TFS_ROLE_WRITE, 0xf00, 0x1000); /* call 6, as far as the range goes */
	touch(set, TFS_ROLE_READ, 0x90, 4);
	builder_window(builder, false, 1, now, 3);
	now += 1000;
	builder_window(builder, true, 2, now - 1, 3);
	touch(set, TFS_ROLE_READ, 0, 0x100); /* call 8 */
	touch(set, TFS_ROLE_READ, 0x90, 4);
	builder_window(builder, false, 2, now, 3);
	return builder_open(builder);
}

int main(void)
{
	builder = builder_create();
	struct tfs_trace *trace = record();

	TEST_NEED(trace);
	TEST_NEED(tfs_timeline_create(trace, &timeline) == 0);
	TEST_NEED(timeline->range_count == 1 && timeline->call_count == 10);
	/* Of two that wrote there the later one; what ended before it wrote nothing there. */
	TEST_EQ(writer(7, 0x90, 8), 2);
	TEST_EQ(writer(7, 0x10, 8), 1);
	TEST_EQ(writer(7, 0xb0, 8), 1);
	TEST_EQ(writer(7, 0x100, 8), TFS_NONE);
	TEST_EQ(writer(2, 0x90, 8), 1);
	/* What may have written counts, though it was read since. */
	TEST_EQ(writer(7, 0x880, 8), 4);
	TEST_EQ(writer(7, 0xf80, 8), 6);
	TEST_EQ(writer(6, 0xf80, 8), 4);
	/* Memory that was never written; not known since when the window is closed. */
	TEST_EQ(writer(7, 0x400, 8), TFS_NONE);
	TEST_EQ(writer(8, 0x10, 8), TFS_NONE);
	TEST_EQ(next_use(1, 0x90, 8), 2);
	TEST_EQ(next_use(2, 0x90, 8), 7);
	TEST_EQ(next_use(1, 0x10, 8), 3);
	TEST_EQ(next_use(3, 0x10, 8), TFS_NONE);
	TEST_EQ(next_use(8, 0x90, 8), 9);
	/* A range ends what is said to be longer. */
	const struct tfs_access *last = tfs_flow_before(timeline, 7, 0, 0xf80, 8, TFS_ROLE_WRITE);

	TEST_NEED(last);
	TEST_EQ(last->bytes, 0x100);
	TEST_TRUE(last->bounded);
	last = tfs_flow_before(timeline, 5, 0, 0xf80, 8, TFS_ROLE_MAYBE);
	TEST_NEED(last);
	TEST_EQ(last->bytes, 0x800);
	TEST_TRUE(!last->bounded);
	/* Reads are looked for one by one. */
	last = tfs_flow_before(timeline, 7, 0, 0x10, 4, TFS_ROLE_READ);
	TEST_NEED(last);
	TEST_EQ(last->call, 3);
	/* What does not reach there, or does something else, is passed over. */
	last = tfs_flow_before(timeline, 7, 0, 0x50, 4, TFS_ROLE_READ | TFS_ROLE_WRITE);
	TEST_NEED(last);
	TEST_EQ(last->call, 1);
	last = tfs_flow_before(timeline, 7, 0, 0x860, 4, TFS_ROLE_READ | TFS_ROLE_MAYBE);
	TEST_NEED(last);
	TEST_EQ(last->call, 4);
	TEST_TRUE(!tfs_flow_before(timeline, 7, 0, 0x50, 4, TFS_ROLE_READ));
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return test_result();
}
