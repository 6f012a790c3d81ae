/* SPDX-License-Identifier: MIT */
/* Which memory is live where not all is told: of its kind, its size, or its release. */
#include "rules/timeline/timeline.h"

#include "tests/unit/timeline/laid_out.h"

static uint16_t alloc, pin, copy, release, reset;

static void begin(void)
{
	builder = builder_create();
	alloc = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "a");
	pin = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_host_register, "p");
	copy = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "c");
	release = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_free, "f");
	reset = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_reset, "r");
}

/* `told` is the size that the operand has. */
static void put(uint16_t function, uint64_t ns, uint64_t address, uint64_t told, uint64_t bytes)
{
	struct builder_call call = {
		.function = function, .start_ns = ns, .duration_ns = 10, .amount = bytes};

	if (address)
		builder_operand(&call, TFS_ROLE_READ, address, told);
	builder_call(builder, &call);
}

/* What the device had is gone, whoever frees it later. */
static void a_reset_ends_all(void)
{
	begin();
	put(alloc, 100, 0x10000, 4096, 0);
	put(alloc, 120, 0x20000, 4096, 0);
	put(release, 200, 0x20000, 0, 0);
	put(reset, 300, 0, 0, 0);
	put(release, 400, 0x10000, 0, 0);
	put(alloc, 500, 0x10000, 4096, 0);
	lay_out();
	TEST_NEED(timeline->range_count == 3);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x10010, 299), 0);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x10010, 301), TFS_NONE);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x10010, 511), 2);
	TEST_EQ(timeline->ranges[0].until_ns, 300);
	TEST_EQ(timeline->ranges[0].free_call, TFS_NONE);
	TEST_EQ(timeline->ranges[1].until_ns, 200);
	TEST_EQ(timeline->ranges[1].free_call, 2);
	TEST_EQ(timeline->ranges[2].until_ns, UINT64_MAX);
	end();
}

/* Who gets an address again shows that it was released. */
static void a_release_that_was_missed(void)
{
	begin();
	put(alloc, 100, 0x10000, 0x10000, 0);
	put(alloc, 200, 0x10000, 0x8000, 0);
	/* inside of the first two, which so are gone as well, though nothing shows it */
	put(alloc, 300, 0x14000, 0x1000, 0);
	put(alloc, 320, 0x15000, 0x1000, 0);
	put(release, 400, 0x14000, 0, 0);
	put(release, 410, 0x90000, 0, 0);
	lay_out();
	TEST_NEED(timeline->range_count == 4);
	TEST_EQ(timeline->ranges[0].until_ns, 210);
	TEST_EQ(timeline->ranges[0].free_call, TFS_NONE);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x10010, 150), 0);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x10010, 250), 1);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x18010, 250), TFS_NONE);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x14010, 350), 2);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x14010, 450), 1);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x17010, 350), 1);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x20000, 350), TFS_NONE);
	end();
}

/* The call tells the kind, its amount the size; no range is longer than there are addresses. */
static void what_is_not_told(void)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	begin();
	put(alloc, 100, 0x10000, 0, 4096);
	put(pin, 120, 0x20000, 4096, 0);
	put(alloc, 140, UINT64_MAX - 0xff, 4096, 0);
	put(copy, 200, 0x20010, 16, 16);
	lay_out();
	TEST_NEED(timeline->range_count == 3);
	TEST_EQ(timeline->ranges[0].memory, TFS_MEMORY_DEVICE);
	TEST_EQ(timeline->ranges[0].bytes, 4096);
	TEST_EQ(timeline->ranges[1].memory, TFS_MEMORY_PINNED);
	TEST_EQ(timeline->ranges[2].bytes, 0xff);
	TEST_EQ(tfs_timeline_range_at(timeline, 0x10fff, 150), 0);
	TEST_EQ(tfs_timeline_range_at(timeline, UINT64_MAX - 2, 160), 2);
	TEST_NEED(tfs_operand_next(timeline, &timeline->calls[3], &cursor, &operand));
	TEST_EQ(operand.range, 1);
	TEST_EQ(operand.memory, TFS_MEMORY_PINNED);
	end();
}

int main(void)
{
	a_reset_ends_all();
	a_release_that_was_missed();
	what_is_not_told();
	return test_result();
}
