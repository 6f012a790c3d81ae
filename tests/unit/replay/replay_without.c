/* SPDX-License-Identifier: MIT */
/* What a copy costs once its call does not wait any more. */
#include "rules/replay/replay.h"
#include "tests/test.h"

#define US 1000.0
#define STEPS 12u
#define CALLS 3u /* of a step */
#define LATENCY (10 * US)
#define GAP (1 * US)
#define LAUNCH_NS (6 * US)
#define KERNEL_NS (100 * US)
#define TAIL_NS (5 * US)

enum { LEGACY, COMPUTE, COPIES, STREAMS };

static struct tfs_graph_call calls[STEPS * CALLS];
static struct tfs_graph_op ops[STEPS * CALLS];
static struct tfs_graph_stream streams[STREAMS] = {
	{.legacy = true}, {.blocking = true}, {.blocking = true}};
static double busy[STREAMS], marks[STEPS + 1];

struct builder {
	struct tfs_graph graph;
	double now, free_at[STREAMS];
};

static void begin(struct builder *builder)
{
	*builder = (struct builder){.graph = {.calls = calls,
					    .ops = ops,
					    .streams = streams,
					    .busy_ns = busy,
					    .marks = marks,
					    .stream_count = STREAMS,
					    .thread_count = 1,
					    .marks_count = STEPS + 1}};
}

/* Work that starts so long after its call at the soonest. */
static struct tfs_graph_call *give(
	struct builder *builder, unsigned stream, double late_ns, double work_ns)
{
	struct tfs_graph_call *call = &calls[builder->graph.calls_count++];
	double start = builder->now + late_ns;

	for (unsigned i = 0; i < STREAMS; i++)
		if ((i == stream || i == LEGACY || stream == LEGACY) &&
			start < builder->free_at[i] + GAP)
			start = builder->free_at[i] + GAP;
	*call = (struct tfs_graph_call){.start_ns = builder->now,
		.end_ns = builder->now + LAUNCH_NS,
		.stream = TFS_NONE,
		.event = TFS_NONE,
		.first_op = (uint32_t)builder->graph.ops_count,
		.ops = 1};
	builder->now = call->end_ns;
	builder->free_at[stream] = start + work_ns;
	ops[builder->graph.ops_count++] = (struct tfs_graph_op){
		.start_ns = start, .end_ns = start + work_ns, .stream = stream, .engine = TFS_NONE};
	return call;
}

static void wait_for_own(struct builder *builder, struct tfs_graph_call *call, double end_ns)
{
	call->wait = TFS_WAIT_OWN;
	call->end_ns = builder->now = end_ns;
}

static double per_step(const struct tfs_replay *replay, const struct tfs_edit *edits)
{
	static const struct tfs_replay_how near = {.follows_ns = TFS_FOLLOWS_NS};
	double finish[STEPS + 1];

	TEST_NEED(!tfs_replay_run(replay, &near, edits, finish));
	return (finish[STEPS] - finish[0]) / STEPS;
}

static void check(struct builder *builder, unsigned edited, struct tfs_edit edit, double step_ns)
{
	struct tfs_edit edits[STEPS * CALLS] = {0};
	struct tfs_replay *replay;

	marks[STEPS] = builder->now;
	replay = tfs_replay_create(&builder->graph);
	TEST_NEED(replay);
	TEST_IN(per_step(replay, NULL), marks[STEPS] / STEPS * 0.999, marks[STEPS] / STEPS * 1.001);
	for (unsigned i = 0; i < STEPS; i++)
		edits[i * CALLS + edited] = edit;
	TEST_IN(per_step(replay, edits), step_ns * 0.997, step_ns * 1.003);
	tfs_replay_destroy(replay);
}

/* A step copies its batch on a stream of its own, and reads its result back by a call that knows no
 * stream: until that is done, no stream goes on. With a stream the batch is copied meanwhile. */
static void holds_up_no_other_stream(void)
{
	const double batch_ns = 300 * US, back_ns = 2 * US;
	struct builder builder;

	begin(&builder);
	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		give(&builder, COPIES, LATENCY, batch_ns);
		give(&builder, COMPUTE, LATENCY, KERNEL_NS);
		struct tfs_graph_call *call = give(&builder, LEGACY, LATENCY, back_ns);

		wait_for_own(&builder, call, builder.free_at[LEGACY] + TAIL_NS);
	}
	check(&builder, 2, (struct tfs_edit){.no_wait = true}, batch_ns + GAP);
}

/* The host stages a copy, which does not begin before a part is there. From pinned memory it takes
 * half the time, begins as soon as other work, and its call is over as soon as theirs; what the
 * host does instead comes on top. */
static void is_staged_no_more(void)
{
	const double staged_ns = 80 * US, copy_ns = 400 * US, host_ns = 700 * US, adds_ns = 4 * US;
	struct builder builder;

	begin(&builder);
	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		struct tfs_graph_call *call = give(&builder, COMPUTE, staged_ns, copy_ns);

		wait_for_own(&builder, call, builder.free_at[COMPUTE]);
		give(&builder, COMPUTE, LATENCY, KERNEL_NS);
		give(&builder, COMPUTE, LATENCY, KERNEL_NS);
		builder.now += host_ns;
	}
	check(&builder, 0,
		(struct tfs_edit){.no_wait = true, .scale = 0.5f, .adds_ns = (float)adds_ns},
		3 * LAUNCH_NS + adds_ns + host_ns);
	begin(&builder);
	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		struct tfs_graph_call *call = give(&builder, COMPUTE, staged_ns, copy_ns);

		wait_for_own(&builder, call, builder.free_at[COMPUTE]);
		give(&builder, COMPUTE, LATENCY, KERNEL_NS);
		call = give(&builder, COMPUTE, LATENCY, KERNEL_NS);
		wait_for_own(&builder, call, builder.free_at[COMPUTE] + TAIL_NS);
	}
	check(&builder, 0, (struct tfs_edit){.no_wait = true, .scale = 0.5f},
		LATENCY + copy_ns / 2 + 2 * (GAP + KERNEL_NS) + TAIL_NS);
}

/* A copy of the legacy stream holds up a kernel's stream, until it is on one of its own. */
static void goes_aside(void)
{
	struct builder builder;

	begin(&builder);
	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		give(&builder, LEGACY, LATENCY, 400 * US);
		give(&builder, COMPUTE, LATENCY, KERNEL_NS);
		struct tfs_graph_call *call = give(&builder, COMPUTE, LATENCY, KERNEL_NS);

		wait_for_own(&builder, call, builder.free_at[COMPUTE] + TAIL_NS);
		builder.now += 500 * US;
	}
	check(&builder, 0, (struct tfs_edit){.aside = true},
		LAUNCH_NS + LATENCY + 2 * KERNEL_NS + GAP + TAIL_NS + 500 * US);
}

int main(void)
{
	goes_aside();
	holds_up_no_other_stream();
	is_staged_no_more();
	return test_result();
}
