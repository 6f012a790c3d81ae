/* SPDX-License-Identifier: MIT */
/* The device memory in use over a run: its most in each part, and when that was. */
#include <stdlib.h>
#include <string.h>

#include "reports/build/build.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define MS 1000000u

static void manage(struct builder *builder, uint16_t function, uint32_t memory, uint64_t address,
	uint64_t bytes, uint64_t ms)
{
	struct builder_call call = {.function = function,
		.site = 1,
		.start_ns = ms * MS,
		.duration_ns = 10,
		.amount = bytes};

	builder_operand(&call, TFS_ROLE_MEMORY(memory), address, bytes);
	builder_call(builder, &call);
}

/* 1000 bytes for all of the run, 3000 for a tenth of it, and pinned ones, which do not count. */
static struct tfs_trace *record(struct builder *builder)
{
	const uint64_t address = 0x400000;
	const uint16_t alloc =
		builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "cudaMalloc");
	const uint16_t release =
		builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_free, "cudaFree");
	const uint16_t pin = builder_function(
		builder, TFS_LIBRARY_cudart, TFS_FAMILY_host_alloc, "cudaMallocHost");

	builder_site(builder, 1, &address);
	builder_device(builder, 0, "a device", false);
	builder_window(builder, true, 1, 200 * MS, 3);
	manage(builder, alloc, TFS_MEMORY_DEVICE, 0x10000, 1000, 300);
	manage(builder, pin, TFS_MEMORY_PINNED, 0x80000, 9000, 350);
	manage(builder, alloc, TFS_MEMORY_DEVICE, 0x20000, 3000, 400);
	manage(builder, release, TFS_MEMORY_DEVICE, 0x20000, 3000, 500);
	builder_window(builder, false, 1, 1000 * MS, 3);
	return builder_open(builder);
}

static void check(const struct tfs_chart_memory *memory, double start_ms)
{
	const double part_ms = memory->span_ns / MS / (double)memory->count;
	const struct {
		double ms;
		double bytes;
	} known[] = {{290, 0}, {310, 1000}, {390, 1000}, {410, 4000}, {490, 4000}, {510, 1000},
		{990, 1000}};

	TEST_EQ(memory->count, 600);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		TEST_EQ(memory->parts[(size_t)((known[i].ms - start_ms) / part_ms)],
			known[i].bytes);
	TEST_EQ(memory->most_bytes, 4000);
	TEST_EQ((400 - start_ms) * MS + 10, memory->most_ns);
	TEST_EQ(memory->last_bytes, 1000);
	TEST_EQ(memory->window_count, 1);
	TEST_EQ((200 - start_ms) * MS, memory->windows[0].start_ns);
	TEST_EQ((1000 - start_ms) * MS, memory->windows[0].end_ns);
	TEST_EQ((1000 - start_ms) * MS, memory->span_ns);
}

int main(void)
{
	struct builder *builder = builder_create();
	struct tfs_trace *trace = record(builder);
	struct tfs_model model = {0};
	struct tfs_timeline *timeline;

	TEST_NEED(trace);
	TEST_NEED(tfs_timeline_create(trace, &timeline) == 0);
	tfs_build_memory(
		&(struct tfs_build){.trace = trace, .timeline = timeline, .model = &model});
	check(&model.charts.memory, (double)tfs_trace_header(trace)->start_ns / MS);
	tfs_arena_finish(&model.arena);
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return test_result();
}
