/* SPDX-License-Identifier: MIT */
/* Which range a call allocated, where two threads allocate by turns: calls are numbered thread by
 * thread, and ranges are in order of time. */
#include <stdlib.h>

#include "rules/timeline/timeline.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define EACH 5u

static void allocate(struct builder *builder, uint16_t function, uint32_t number)
{
	struct builder_call call = {.function = function,
		.site = 1,
		.start_ns = 1000 + number * 100,
		.duration_ns = 10,
		.amount = 64};

	builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), 0x10000 + number * 0x100, 64);
	builder_call(builder, &call);
}

/* The first thread makes the even ones. */
static struct tfs_trace *record(struct builder *builder)
{
	const uint64_t address = 0x400000;
	const uint16_t function =
		builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "cudaMalloc");

	builder_site(builder, 1, &address);
	builder_window(builder, true, 1, 500, 3);
	for (uint32_t thread = 0; thread < 2; thread++) {
		builder_thread(builder, thread + 1);
		for (uint32_t i = 0; i < EACH; i++)
			allocate(builder, function, 2 * i + thread);
	}
	builder_window(builder, false, 1, 5000, 3);
	return builder_open(builder);
}

int main(void)
{
	struct builder *builder = builder_create();
	struct tfs_trace *trace = record(builder);
	struct tfs_timeline *timeline;

	TEST_NEED(trace);
	TEST_NEED(tfs_timeline_create(trace, &timeline) == 0);
	TEST_EQ(timeline->call_count, 2 * EACH);
	TEST_EQ(timeline->range_count, 2 * EACH);
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const uint32_t range = tfs_timeline_allocated(timeline, i);

		if (TEST_EQ(range == TFS_NONE, 0))
			TEST_EQ(timeline->ranges[range].alloc_call, i);
	}
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return test_result();
}
