/* SPDX-License-Identifier: MIT */
/* The timeline against recordings whose content is known. */
#include "rules/timeline/timeline.h"

#include "rules/timeline/flow.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"
#include "tests/unit/scenes/read_all.h"
#include "tests/unit/scenes/sample.h"

struct opened {
	struct builder *builder;
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
};

static struct opened open_built(struct builder *builder)
{
	struct opened opened = {builder, builder_open(builder), NULL};

	TEST_NEED(opened.trace);
	TEST_NEED(tfs_timeline_create(opened.trace, &opened.timeline) == 0);
	return opened;
}

static void close_built(struct opened *opened)
{
	tfs_timeline_destroy(opened->timeline);
	tfs_trace_close(opened->trace);
	builder_destroy(opened->builder);
}

static void check_steps(void)
{
	struct opened opened = open_built(sample_create(TFS_CHUNK_BYTES, SAMPLE_STEPS));
	const struct tfs_timeline *timeline = opened.timeline;
	const struct tfs_host_call *calls;

	TEST_EQ(timeline->window_count, 1);
	TEST_EQ(timeline->step_count, SAMPLE_STEPS);
	/* the window closes just behind the last step's end */
	TEST_EQ(timeline->judged_count, SAMPLE_STEPS);
	TEST_EQ(timeline->training_steps, SAMPLE_STEPS + 4);
	TEST_EQ(timeline->step_source, TFS_STEP_LOOPS);
	TEST_EQ(timeline->inside.median_ns, SAMPLE_STEP_NS);
	TEST_EQ(timeline->outside.count, 4);
	TEST_IN(timeline->outside.median_ns, 915000 - 1, 915000 + 1);
	TEST_IN(timeline->outside.p95_ns, 930000 - 1, 930000 + 1);
	TEST_EQ(timeline->rewritten.count, 0);
	TEST_EQ(timeline->evidence, TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE |
					    TFS_NEEDS_RUNTIME | TFS_NEEDS_FAMILIES);
	for (uint32_t i = 0; i < SAMPLE_STEPS; i++) {
		TEST_EQ(timeline->steps[i].start_ns, SAMPLE_FIRST_NS + i * SAMPLE_STEP_NS);
		TEST_EQ(tfs_timeline_step_calls(timeline, i, 0, &calls), 5);
		TEST_EQ(calls[0].family, TFS_FAMILY_copy);
		TEST_EQ(calls[3].family, TFS_FAMILY_device_sync);
		TEST_EQ(calls[4].step, i);
		TEST_EQ(tfs_timeline_step_at(timeline, calls[2].start_ns), i);
	}
	TEST_EQ(tfs_timeline_step_at(timeline, 1), TFS_NONE);
	TEST_EQ(timeline->calls[0].step, TFS_NONE);
	close_built(&opened);
}

static void check_ops(void)
{
	struct opened opened = open_built(sample_create(1024, SAMPLE_STEPS));
	const struct tfs_timeline *timeline = opened.timeline;
	const struct tfs_host_call *calls;

	TEST_EQ(timeline->stream_count, 1);
	TEST_EQ(timeline->streams[0].cupti_id, 7);
	TEST_EQ(timeline->streams[0].id, 1);
	TEST_EQ(timeline->streams[0].flags, 1);
	TEST_EQ(timeline->op_count, SAMPLE_STEPS * 4);
	TEST_NEED(tfs_timeline_step_calls(timeline, 1, 0, &calls) == 5);
	for (unsigned i = 0; i < 5; i++)
		TEST_EQ(calls[i].op_count, i == 3 ? 0 : 1);
	TEST_EQ(timeline->ops[timeline->call_ops[calls[2].first_op]].start_ns,
		SAMPLE_FIRST_NS + SAMPLE_STEP_NS + 350000);
	TEST_EQ(timeline->ops[timeline->call_ops[calls[2].first_op]].step, 1);
	TEST_EQ(timeline->device_count, 1);
	TEST_EQ(timeline->devices[0].busy_ns, SAMPLE_STEPS * 540000);
	TEST_EQ(timeline->devices[0].lost, 0);
	TEST_EQ(tfs_timeline_correlated(timeline, 999), TFS_NONE);
	TEST_EQ(timeline->sync_count, 1);
	close_built(&opened);
}

static void check_idle(void)
{
	struct opened opened = open_built(sample_create(TFS_CHUNK_BYTES, SAMPLE_STEPS));
	const struct tfs_timeline *timeline = opened.timeline;

	/* in each step: before the first kernel, before the read-back; then up to the next copy */
	TEST_NEED(timeline->idle_count == SAMPLE_STEPS * 3 - 1);
	TEST_EQ(timeline->devices[0].idle_count, timeline->idle_count);
	TEST_EQ(timeline->idles[0].start_ns, SAMPLE_FIRST_NS + 100000);
	TEST_EQ(timeline->idles[0].end_ns, SAMPLE_FIRST_NS + 150000);
	TEST_EQ(timeline->idles[0].why, TFS_IDLE_DRAINED);
	TEST_EQ(timeline->calls[timeline->idles[0].call].family, TFS_FAMILY_copy);
	TEST_EQ(timeline->idles[1].start_ns, SAMPLE_FIRST_NS + 550000);
	TEST_EQ(timeline->idles[1].end_ns, SAMPLE_FIRST_NS + 720000);
	TEST_EQ(timeline->idles[1].why, TFS_IDLE_DRAINED);
	TEST_EQ(timeline->calls[timeline->idles[1].call].family, TFS_FAMILY_device_sync);
	TEST_EQ(timeline->idles[2].why, TFS_IDLE_DRAINED);
	TEST_EQ(timeline->calls[timeline->idles[2].call].family, TFS_FAMILY_copy);
	TEST_EQ(timeline->idles[2].step, 1);
	close_built(&opened);
}

/* Host code, a long call that does not wait, latency: each is told from the others. */
static void check_idle_kinds(void)
{
	struct builder *builder = builder_create();
	uint16_t launch = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "l");
	uint16_t create = builder_function(builder, TFS_LIBRARY_cudnn, TFS_FAMILY_descriptor, "d");
	struct builder_call call = {.function = launch, .duration_ns = 1000};
	struct opened opened;

	builder_window(builder, true, 1, 1, 3);
	call.start_ns = 10000;
	builder_link(builder, builder_call(builder, &call), 1);
	builder_device_op(builder, TFS_DEVICE_KERNEL, 1, 7, 1, 20000, 30000, 0);
	call.start_ns = 15000; /* launched before the device fell idle */
	builder_link(builder, builder_call(builder, &call), 2);
	builder_device_op(builder, TFS_DEVICE_KERNEL, 1, 7, 2, 32000, 40000, 0);
	call.start_ns = 90000; /* nothing before it but host code */
	builder_link(builder, builder_call(builder, &call), 3);
	builder_device_op(builder, TFS_DEVICE_KERNEL, 1, 7, 3, 95000, 99000, 0);
	call.function = create;
	call.start_ns = 100000;
	call.duration_ns = 80000;
	builder_call(builder, &call);
	call.function = launch;
	call.start_ns = 190000;
	call.duration_ns = 1000;
	builder_link(builder, builder_call(builder, &call), 4);
	builder_device_op(builder, TFS_DEVICE_KERNEL, 1, 7, 4, 195000, 199000, 0);
	builder_device_op(builder, TFS_DEVICE_KERNEL, 1, 8, 99, 250000, 260000, 0);
	builder_device_op(builder, TFS_DEVICE_KERNEL, 1, 8, 98, 0, 0, 0);
	opened = open_built(builder);
	TEST_NEED(opened.timeline->idle_count == 4);
	TEST_EQ(opened.timeline->idles[0].why, TFS_IDLE_QUEUED);
	TEST_EQ(opened.timeline->idles[1].why, TFS_IDLE_HOST);
	TEST_EQ(opened.timeline->idles[1].call, 1);
	TEST_EQ(opened.timeline->idles[2].why, TFS_IDLE_CALL);
	TEST_EQ(opened.timeline->calls[opened.timeline->idles[2].call].function, create);
	TEST_EQ(opened.timeline->idles[3].why, TFS_IDLE_UNKNOWN);
	TEST_EQ(opened.timeline->idles[3].call, TFS_NONE);
	TEST_EQ(opened.timeline->devices[0].lost, 1);
	TEST_EQ(opened.timeline->stream_count, 2);
	close_built(&opened);
}

static void put_memory(struct builder *builder, uint16_t function, uint64_t ns, uint64_t address,
	uint64_t bytes, uint32_t kind, uint16_t status)
{
	struct builder_call call = {.function = function,
		.start_ns = ns,
		.duration_ns = 10,
		.status = status,
		.amount = bytes};

	builder_operand(&call, TFS_ROLE_MEMORY(kind), address, bytes);
	builder_call(builder, &call);
}

static void check_ranges(void)
{
	struct builder *builder = builder_create();
	uint16_t alloc = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "a");
	uint16_t release = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_free, "f");
	uint16_t pin = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_host_register, "r");
	uint16_t copy = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "c");
	struct builder_call call = {.function = copy, .start_ns = 600, .duration_ns = 10};
	struct tfs_operand operand;
	struct opened opened;
	unsigned cursor = 0;

	put_memory(builder, alloc, 100, 0x10000, 4096, TFS_MEMORY_DEVICE, 0);
	put_memory(builder, alloc, 110, 0x20000, 4096, TFS_MEMORY_MANAGED, 0);
	put_memory(builder, alloc, 120, 0x30000, 4096, TFS_MEMORY_DEVICE, 2); /* failed */
	put_memory(builder, release, 200, 0x10000, 0, 0, 0);
	put_memory(builder, release, 210, 0x20000, 0, 0, 1);                  /* failed */
	put_memory(builder, alloc, 300, 0x10000, 8192, TFS_MEMORY_DEVICE, 0); /* same address */
	builder_thread(builder, 1);
	put_memory(builder, pin, 400, 0x50000, 100, TFS_MEMORY_PINNED, 0);
	builder_thread(builder, 0);
	builder_operand(&call, TFS_ROLE_WRITE, 0x11800, 16);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_HOST), 0x50010, 16);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_HOST), 0x90000, 16);
	builder_call(builder, &call);
	opened = open_built(builder);

	TEST_EQ(opened.timeline->range_count, 4);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x10010, 150), 0);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x10010, 250), TFS_NONE);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x11010, 150), TFS_NONE);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x11010, 350), 2);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x20fff, 500), 1);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x21000, 500), TFS_NONE);
	TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x30000, 500), TFS_NONE);
	TEST_EQ(opened.timeline->ranges[0].until_ns, 200);
	TEST_EQ(opened.timeline->ranges[1].until_ns, UINT64_MAX);
	/* a release sees what it releases */
	TEST_TRUE(tfs_operand_next(opened.timeline, &opened.timeline->calls[3], &cursor, &operand));
	TEST_EQ(operand.range, 0);
	cursor = 0;
	TEST_TRUE(tfs_operand_next(opened.timeline, &opened.timeline->calls[6], &cursor, &operand));
	TEST_EQ(operand.range, 2);
	TEST_EQ(operand.memory, TFS_MEMORY_DEVICE);
	TEST_EQ(operand.role, TFS_ROLE_WRITE);
	TEST_TRUE(tfs_operand_next(opened.timeline, &opened.timeline->calls[6], &cursor, &operand));
	TEST_EQ(operand.memory, TFS_MEMORY_PINNED);
	TEST_TRUE(tfs_operand_next(opened.timeline, &opened.timeline->calls[6], &cursor, &operand));
	TEST_EQ(operand.memory, TFS_MEMORY_HOST);
	TEST_TRUE(
		!tfs_operand_next(opened.timeline, &opened.timeline->calls[6], &cursor, &operand));
	close_built(&opened);
}

/* Memory that comes and goes at one address: each time it is another. */
static void check_reused_addresses(void)
{
	enum { TIMES = 200 };
	struct builder *builder = builder_create();
	uint16_t alloc = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "a");
	uint16_t release = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_free, "f");
	struct opened opened;

	for (uint32_t i = 0; i < TIMES; i++) {
		put_memory(builder, alloc, 100 + 100 * i, 0x10000, 4096, TFS_MEMORY_DEVICE, 0);
		put_memory(builder, release, 150 + 100 * i, 0x10000, 0, 0, 0);
	}
	opened = open_built(builder);
	TEST_EQ(opened.timeline->range_count, TIMES);
	for (uint32_t i = 0; i < TIMES; i++) {
		TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x10010, 130 + 100 * i), i);
		TEST_EQ(tfs_timeline_range_at(opened.timeline, 0x10010, 190 + 100 * i), TFS_NONE);
	}
	close_built(&opened);
}

static void check_flow(void)
{
	struct opened opened = open_built(sample_create(TFS_CHUNK_BYTES, 2));
	const struct tfs_timeline *timeline = opened.timeline;
	const struct tfs_access *access;
	const struct tfs_host_call *calls;
	struct tfs_operand operand;
	unsigned cursor = 0;
	uint32_t first;

	TEST_NEED(tfs_timeline_step_calls(timeline, 1, 0, &calls) == 5);
	first = (uint32_t)(calls - timeline->calls);
	/* the first launch reads what the copy wrote, and weights from the step before */
	TEST_NEED(tfs_operand_next(timeline, &calls[1], &cursor, &operand));
	access = tfs_flow_writer(timeline, first + 1, &operand);
	TEST_NEED(access);
	TEST_EQ(access->call, first);
	TEST_NEED(tfs_operand_next(timeline, &calls[1], &cursor, &operand));
	access = tfs_flow_writer(timeline, first + 1, &operand);
	TEST_NEED(access);
	TEST_EQ(access->call, first - 4);
	/* what it writes is read by the next launch */
	TEST_NEED(tfs_operand_next(timeline, &calls[1], &cursor, &operand));
	access = tfs_flow_next_use(timeline, first + 1, &operand);
	TEST_NEED(access);
	TEST_EQ(access->call, first + 2);
	TEST_EQ(access->role, TFS_ROLE_READ);
	/* the loss is read back from the second launch's output; nobody uses it afterwards */
	cursor = 1;
	TEST_NEED(tfs_operand_next(timeline, &calls[4], &cursor, &operand));
	access = tfs_flow_writer(timeline, first + 4, &operand);
	TEST_NEED(access);
	TEST_EQ(access->call, first + 2);
	/* it was read before that, in the step before */
	access = tfs_flow_before(timeline, first + 4, operand.range,
		operand.address - timeline->ranges[operand.range].address, 4, TFS_ROLE_READ);
	TEST_NEED(access);
	TEST_EQ(access->call, first - 1);
	TEST_TRUE(!tfs_flow_next_use(timeline, first + 4, &operand));
	TEST_TRUE(!tfs_flow_before(timeline, first, operand.range, 0, 4, TFS_ROLE_MAYBE));
	/* host memory has no range */
	cursor = 0;
	TEST_NEED(tfs_operand_next(timeline, &calls[4], &cursor, &operand));
	TEST_EQ(operand.range, TFS_NONE);
	TEST_TRUE(!tfs_flow_writer(timeline, first + 4, &operand));
	close_built(&opened);
}

/* Phases, packed steps and the mark at exit. */
static void check_phases(void)
{
	const float before[] = {100, 100, 100}, after[] = {200};
	struct builder *builder = builder_create();
	struct opened opened;

	builder_step(builder, 1, 1000, TFS_PHASE_TRAINING, 0);
	builder_steps(builder, 1, 1000, 3, before, 0);
	builder_step(builder, 3, 1300, TFS_PHASE_OTHER, 0);
	builder_window(builder, true, 1, 4999, 3);
	builder_step(builder, 4, 5000, TFS_PHASE_TRAINING, 2);
	builder_step(builder, 5, 5500, TFS_PHASE_TRAINING, 2);
	builder_window(builder, false, 1, 6001, 0);
	builder_steps(builder, 6, 6000, 1, after, 1);
	builder_step(builder, 7, 6200, TFS_PHASE_TRAINING, 0);
	builder_step(builder, 7, 9999, TFS_PHASE_TRAINING, 0); /* written at exit */
	opened = open_built(builder);
	TEST_EQ(opened.timeline->training_steps, 7);
	TEST_EQ(opened.timeline->other_steps, 1);
	TEST_EQ(opened.timeline->rewritten_steps, 1);
	TEST_EQ(opened.timeline->judged_count, 2);
	TEST_EQ(opened.timeline->outside.count, 3);
	TEST_EQ(opened.timeline->outside.median_ns, 100);
	TEST_EQ(opened.timeline->rewritten.count, 1);
	TEST_EQ(opened.timeline->rewritten.median_ns, 200);
	TEST_NEED(opened.timeline->step_count == 4);
	TEST_EQ(opened.timeline->steps[0].end_ns, 1100);
	TEST_EQ(opened.timeline->steps[1].phase, TFS_PHASE_OTHER);
	TEST_EQ(opened.timeline->steps[1].end_ns, 5000);
	TEST_EQ(opened.timeline->steps[3].end_ns, 6000);
	TEST_EQ(opened.timeline->steps[3].window, 0);
	close_built(&opened);
}

/* CUDA calls without a link belong to the wrapped call that was under way in their thread. */
static void check_apis(void)
{
	struct builder *builder = builder_create();
	const struct tfs_thread_record thread = {.tid = 5, .name = "main"};
	const struct tfs_thread_record other = {.index = 1, .tid = 6, .name = "other"};
	struct tfs_device_api_record api = {
		.correlation = 40, .tid = 6, .start_ns = 1500, .duration_ns = 100};
	struct builder_call call = {.start_ns = 1000, .duration_ns = 1000};
	struct opened opened;

	builder_record(builder, TFS_RECORD_thread, &thread, sizeof(thread));
	builder_call(builder, &call);
	builder_thread(builder, 1);
	builder_record(builder, TFS_RECORD_thread, &other, sizeof(other));
	builder_call(builder, &call);
	builder_record(builder, TFS_RECORD_device_api, &api, sizeof(api));
	api.correlation = 41;
	api.start_ns = 2500;
	builder_record(builder, TFS_RECORD_device_api, &api, sizeof(api));
	opened = open_built(builder);
	TEST_EQ(tfs_timeline_correlated(opened.timeline, 40), 1);
	TEST_EQ(tfs_timeline_correlated(opened.timeline, 41), TFS_NONE);
	TEST_STR(opened.timeline->threads[1].name, "other");
	close_built(&opened);
}

/* Without marks, steps are found in the calls themselves. */
static void check_offline(void)
{
	struct builder *builder = builder_create();
	uint16_t launch = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "l");
	struct opened opened;
	uint32_t site[4];
	uint64_t ns = 1000;

	for (uint64_t i = 0; i < 4; i++)
		site[i] = builder_site(builder, 2, (uint64_t[]){0x401000 + i * 16, 0x7f00});
	builder_window(builder, true, 1, 1, 7);
	/* set-up, then steps of three calls: input, forward, update; then something else */
	for (unsigned i = 0; i < 1 + 30 * 3 + 1; i++, ns += 100) {
		unsigned part = i == 0 || i == 91 ? 3 : (i - 1) % 3;
		struct builder_call call = {.function = launch,
			.site = site[part],
			.start_ns = ns,
			.duration_ns = 10,
			.stream = TFS_NO_STREAM};

		if (part == 0)
			builder_operand(&call, TFS_ROLE_WRITE, 0x20000, 64);
		if (part == 1)
			builder_operand(&call, TFS_ROLE_READ, 0x10000, 64);
		if (part == 2)
			builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_WRITE, 0x10000, 64);
		builder_call(builder, &call);
	}
	opened = open_built(builder);
	TEST_TRUE(opened.timeline->steps_offline);
	TEST_EQ(opened.timeline->step_source, TFS_STEP_LOOPS);
	TEST_EQ(opened.timeline->judged_count, 30);
	TEST_EQ(opened.timeline->training_steps, 30);
	TEST_EQ(opened.timeline->inside.median_ns, 300);
	TEST_EQ(opened.timeline->calls[1].step, 0);
	TEST_EQ(opened.timeline->calls[0].step, TFS_NONE);
	TEST_EQ(opened.timeline->calls[91].step, TFS_NONE);
	close_built(&opened);
}

/* A recording with nothing in it is a timeline with nothing in it. */
static void check_empty(void)
{
	struct opened opened = open_built(builder_create());

	TEST_EQ(opened.timeline->evidence, TFS_NEEDS_FAMILIES);
	TEST_EQ(opened.timeline->call_count, 0);
	TEST_EQ(read_all_timeline(opened.timeline), TFS_NEEDS_FAMILIES);
	close_built(&opened);
}

int main(void)
{
	check_steps();
	check_ops();
	check_idle();
	check_idle_kinds();
	check_ranges();
	check_reused_addresses();
	check_flow();
	check_phases();
	check_apis();
	check_offline();
	check_empty();
	return test_result();
}
