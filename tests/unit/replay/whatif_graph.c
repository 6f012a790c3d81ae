/* SPDX-License-Identifier: MIT */
/* What a replay is made of: the calls of the judged steps with their work, streams and events, what
 * the device was given before, and which of many steps. */
#include "rules/whatif/graph.h"

#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define FIRST_NS UINT64_C(100000)
#define STEP_NS UINT64_C(20000)
#define EARLY 0x500u /* events, by handle */
#define LATE 0x900u

/* Calls of a step, in their order; each begins a microsecond behind the one before. */
enum nth {
	LAUNCH,
	UPLOAD,
	SET,
	RECORD,
	RECORD_IDLE,
	WAIT_IDLE,
	WAIT,
	SYNC_IDLE,
	FREE,
	SYNC,
	CALLS
};

/* Streams in the order of their ids, and how a graph has them: first those with work. */
enum { LEGACY, WORKS, COPIES, ASIDE, BLOCKING, STREAMS };
static const uint32_t flags[STREAMS] = {1, 0, 4, 4, 0};
static const uint32_t index_of[STREAMS] = {2, 0, 1, 3, 4};

static struct builder *builder;
static uint16_t streams[STREAMS];
static uint32_t correlation, site;
static uint64_t now_ns;
static struct tfs_trace *trace;
static struct tfs_timeline *timeline;
static struct tfs_steady steady;
static struct tfs_run *runs;
static size_t run_count;

static struct builder_call call_of(enum tfs_family family, uint16_t stream)
{
	return (struct builder_call){
		.function = builder_function(builder, TFS_LIBRARY_cudart, family, "f"),
		.stream = stream,
		.site = site,
		.start_ns = now_ns,
		.duration_ns = 500};
}

/* With work that CUPTI saw given to the device so long after the call's start. */
static void put_work(const struct builder_call *call, enum tfs_device_op_kind kind, uint32_t stream,
	uint64_t start_ns, uint64_t end_ns, int64_t made_ns)
{
	builder_link(builder, builder_call(builder, call), ++correlation);
	builder_device_op(builder, (uint16_t)kind, 1, stream, correlation, start_ns, end_ns, 4096);
	builder_device_api(builder, TFS_LIBRARY_cudart, 1, correlation, 77,
		(uint64_t)((int64_t)call->start_ns + made_ns), 10);
}

static void put_event(enum tfs_family family, unsigned stream, uint64_t event)
{
	struct builder_call call = call_of(family, streams[stream]);

	builder_attribute(&call, TFS_ATTRIBUTE_event, event);
	builder_call(builder, &call);
}

static void put_call(enum nth nth)
{
	struct builder_call call;

	switch (nth) {
	case LAUNCH:
		call = call_of(TFS_FAMILY_launch, streams[WORKS]);
		put_work(&call, TFS_DEVICE_KERNEL, 7 + WORKS, now_ns + 2000, now_ns + 5000, 300);
		return;
	case UPLOAD:
		call = call_of(TFS_FAMILY_copy_async, streams[COPIES]);
		builder_operand(
			&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), 0x20000, 4096);
		builder_operand(
			&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_PINNED), 0x10000, 4096);
		builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 1);
		put_work(&call, TFS_DEVICE_MEMCPY, 7 + COPIES, now_ns + 2000, now_ns + 4000, -100);
		return;
	case SET:
		call = call_of(TFS_FAMILY_set_async, streams[WORKS]);
		put_work(&call, TFS_DEVICE_MEMSET, 7 + WORKS, now_ns + 4000, now_ns + 4500, 600);
		return;
	case RECORD:
		put_event(TFS_FAMILY_event_record, WORKS, LATE);
		return;
	case RECORD_IDLE:
		put_event(TFS_FAMILY_event_record, ASIDE, EARLY);
		return;
	case WAIT_IDLE:
		put_event(TFS_FAMILY_stream_wait, BLOCKING, EARLY);
		return;
	case WAIT:
		put_event(TFS_FAMILY_stream_wait, COPIES, LATE);
		return;
	case SYNC_IDLE:
		call = call_of(TFS_FAMILY_stream_sync, streams[LEGACY]);
		break;
	case FREE:
		call = call_of(TFS_FAMILY_free, TFS_NO_STREAM);
		builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), 0x30000, 0);
		break;
	default:
		call = call_of(TFS_FAMILY_device_sync, TFS_NO_STREAM);
	}
	builder_call(builder, &call);
}

/* Launches before the next step, which end so long after its start. */
static void put_before(uint64_t step_ns, unsigned stream, int64_t ends_ns)
{
	struct builder_call call = call_of(TFS_FAMILY_launch, streams[stream]);

	call.start_ns = step_ns - 8000;
	put_work(&call, TFS_DEVICE_KERNEL, 7 + stream, call.start_ns + 1000,
		(uint64_t)((int64_t)step_ns + ends_ns), 300);
}

static void put_steps(unsigned count, uint64_t *index)
{
	for (unsigned i = 0; i < count; i++) {
		const uint64_t start_ns = now_ns;

		builder_step(builder, ++*index, start_ns, TFS_PHASE_TRAINING, 2);
		for (unsigned nth = 0; nth < CALLS; nth++) {
			now_ns = start_ns + (nth + 1) * 1000;
			put_call((enum nth)nth);
		}
		now_ns = start_ns + STEP_NS;
	}
}

/* Steps, an evaluation, and steps. */
static void begin(unsigned first, unsigned second)
{
	const struct tfs_thread_record thread = {.tid = 77, .name = "main"};
	uint64_t index = 0;

	builder = builder_create();
	correlation = 0;
	now_ns = FIRST_NS;
	builder_record(builder, TFS_RECORD_thread, &thread, sizeof(thread));
	builder_device(builder, 0, "Device", false);
	for (unsigned i = 0; i < STREAMS; i++)
		streams[i] = builder_stream(builder, i, 7 + i, flags[i]);
	site = builder_site(builder, 2, (uint64_t[]){0x401000, 0x400800});
	put_before(FIRST_NS, WORKS, -100);
	put_before(FIRST_NS, COPIES, 900);
	put_before(FIRST_NS, COPIES, 800);
	builder_window(builder, true, 1, FIRST_NS - 1, 3);
	put_steps(first, &index);
	builder_step(builder, ++index, now_ns, TFS_PHASE_EVALUATION, 2);
	now_ns += STEP_NS;
	put_before(now_ns, WORKS, 700);
	put_steps(second, &index);
	builder_step(builder, ++index, now_ns, TFS_PHASE_OTHER, 2);
	builder_window(builder, false, 1, now_ns + 1, 3);
	trace = builder_open(builder);
	TEST_NEED(trace && tfs_timeline_create(trace, &timeline) == 0);
	TEST_NEED(tfs_steady_init(&steady, timeline, 0) == 0);
	TEST_NEED(steady.step_count == first + second);
	TEST_NEED(steady.call_count == CALLS * (first + second));
	TEST_EQ(tfs_runs_create(&steady, &runs, &run_count), 0);
	TEST_NEED(run_count == 2);
}

static void end(void)
{
	tfs_runs_destroy(runs, run_count);
	tfs_steady_finish(&steady);
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

/* A call of the last but one step of the first run. */
static const struct tfs_graph_call *call_at(enum nth nth)
{
	return &runs[0].graph.calls[CALLS * (runs[0].steps - 2) + nth];
}

static const struct tfs_graph_op *work_at(enum nth nth)
{
	TEST_NEED(call_at(nth)->ops == 1);
	return &runs[0].graph.ops[call_at(nth)->first_op];
}

static void streams_and_events(void)
{
	const struct tfs_graph *graph = &runs[0].graph;

	TEST_NEED(graph->stream_count == STREAMS);
	for (unsigned i = 0; i < STREAMS; i++) {
		TEST_EQ(graph->streams[index_of[i]].legacy, i == LEGACY);
		TEST_EQ(graph->streams[index_of[i]].blocking, i != COPIES && i != ASIDE);
	}
	TEST_EQ(graph->event_count, 2);
	TEST_EQ(call_at(RECORD)->stream, index_of[WORKS]);
	TEST_EQ(call_at(RECORD)->event, 1);
	TEST_EQ(call_at(RECORD)->action, TFS_ACTION_RECORD);
	TEST_EQ(call_at(RECORD_IDLE)->stream, index_of[ASIDE]);
	TEST_EQ(call_at(RECORD_IDLE)->event, 0);
	TEST_EQ(call_at(WAIT_IDLE)->stream, index_of[BLOCKING]);
	TEST_EQ(call_at(WAIT_IDLE)->event, 0);
	TEST_EQ(call_at(WAIT_IDLE)->action, TFS_ACTION_STREAM_WAIT);
	TEST_EQ(call_at(WAIT)->stream, index_of[COPIES]);
	TEST_EQ(call_at(WAIT)->event, 1);
	TEST_EQ(call_at(SYNC_IDLE)->stream, index_of[LEGACY]);
	TEST_EQ(call_at(SYNC_IDLE)->event, TFS_NONE);
	TEST_EQ(call_at(SYNC_IDLE)->action, TFS_ACTION_NONE);
}

static void calls_and_work(void)
{
	const double step_ns = (double)((runs[0].steps - 2) * STEP_NS);

	TEST_EQ(call_at(LAUNCH)->start_ns, step_ns + 1000);
	TEST_EQ(call_at(LAUNCH)->end_ns, step_ns + 1500);
	TEST_EQ(work_at(LAUNCH)->start_ns, step_ns + 3000);
	TEST_EQ(work_at(LAUNCH)->end_ns, step_ns + 6000);
	TEST_EQ(work_at(LAUNCH)->stream, index_of[WORKS]);
	TEST_EQ(work_at(UPLOAD)->stream, index_of[COPIES]);
	/* What was not made in the call says nothing of it. */
	TEST_EQ(work_at(LAUNCH)->submit_ns, 300);
	TEST_EQ(work_at(UPLOAD)->submit_ns, 0);
	TEST_EQ(work_at(SET)->submit_ns, 0);
	TEST_EQ(work_at(LAUNCH)->engine, 0);
	TEST_EQ(work_at(UPLOAD)->engine, TFS_NONE);
	TEST_EQ(call_at(UPLOAD)->wait, TFS_WAIT_NONE);
	TEST_EQ(call_at(SYNC_IDLE)->wait, TFS_WAIT_STREAM);
	TEST_TRUE(!call_at(SYNC_IDLE)->works);
	TEST_EQ(call_at(FREE)->wait, TFS_WAIT_DEVICE);
	TEST_TRUE(call_at(FREE)->works);
	TEST_EQ(call_at(SYNC)->wait, TFS_WAIT_DEVICE);
	TEST_TRUE(!call_at(SYNC)->works);
}

/* What was given before a run is in its way until it is over, and nothing else is. */
static void busy_before(void)
{
	TEST_EQ(runs[0].graph.busy_ns[index_of[WORKS]], 0);
	TEST_EQ(runs[0].graph.busy_ns[index_of[COPIES]], 900);
	TEST_EQ(runs[1].graph.busy_ns[index_of[WORKS]], 700);
	TEST_EQ(runs[1].graph.busy_ns[index_of[COPIES]], 0);
}

static void is_run(size_t nth, uint32_t first_step, uint32_t steps)
{
	const struct tfs_run *run = &runs[nth];

	TEST_EQ(run->first_step, first_step);
	TEST_NEED(run->steps == steps && run->graph.marks_count == steps + (size_t)1);
	TEST_EQ(run->first_call, CALLS * first_step);
	TEST_EQ(run->graph.calls_count, CALLS * steps);
	for (uint32_t i = 0; i <= steps; i++)
		TEST_EQ(run->graph.marks[i], (double)(i * STEP_NS));
}

/* Of more than 256 steps each run's last ones, but three of them or all. */
static void many(unsigned first, unsigned second, uint32_t first_kept, uint32_t second_kept)
{
	begin(first, second);
	is_run(0, first - first_kept, first_kept);
	is_run(1, first + second - second_kept, second_kept);
	end();
}

int main(void)
{
	begin(4, 3);
	streams_and_events();
	calls_and_work();
	busy_before();
	is_run(0, 0, 4);
	is_run(1, 4, 3);
	end();
	many(254, 2, 254, 2);
	many(490, 22, 245, 11);
	many(508, 4, 254, 3);
	many(510, 2, 255, 2);
	return test_result();
}
