/* SPDX-License-Identifier: MIT */
/* What held an operation up in the measurement is not what holds it up in every replay. */
#include "rules/replay/replay.h"
#include "tests/test.h"

#define US 1000.0
#define STEPS 12u
#define SMALL 24u
#define LATENCY (15 * US)
#define GAP (1 * US)
#define SHORT_NS (12 * US)
#define LAUNCH_NS (5 * US)
#define EVERY_NS (20 * US)
#define LONG_NS (150 * US)
#define TAIL_NS (3 * US)

static struct tfs_graph_call calls[STEPS * (SMALL + 2)];
static struct tfs_graph_op ops[STEPS * (SMALL + 1)];
static struct tfs_graph_stream streams[1] = {{.blocking = true}};
static double busy[1], marks[STEPS + 1];

struct builder {
	struct tfs_graph graph;
	double now, free_at;
};

static struct tfs_graph_call *add_call(struct builder *builder, double end_ns)
{
	struct tfs_graph_call *call = &calls[builder->graph.calls_count++];

	*call = (struct tfs_graph_call){.start_ns = builder->now,
		.end_ns = end_ns,
		.stream = TFS_NONE,
		.event = TFS_NONE,
		.first_op = (uint32_t)builder->graph.ops_count};
	builder->now = end_ns;
	return call;
}

static void launch(struct builder *builder, double work_ns)
{
	double start = builder->now + LATENCY;

	if (start < builder->free_at + GAP)
		start = builder->free_at + GAP;
	add_call(builder, builder->now + LAUNCH_NS)->ops = 1;
	ops[builder->graph.ops_count++] = (struct tfs_graph_op){
		.start_ns = start, .end_ns = start + work_ns, .engine = TFS_NONE};
	builder->free_at = start + work_ns;
}

/* A step: a long kernel, short ones that the host launches in its own time, and a wait. The first
 * of the short ones queue behind the long one; the others come when the stream is idle, but not for
 * as long as they take to start. */
static struct tfs_graph make(void)
{
	struct builder builder = {.graph = {.calls = calls,
					  .ops = ops,
					  .streams = streams,
					  .busy_ns = busy,
					  .marks = marks,
					  .stream_count = 1,
					  .thread_count = 1,
					  .marks_count = STEPS + 1}};

	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		launch(&builder, LONG_NS);
		for (unsigned j = 0; j < SMALL; j++) {
			builder.now += EVERY_NS - LAUNCH_NS;
			launch(&builder, SHORT_NS);
		}
		add_call(&builder, builder.free_at + TAIL_NS)->wait = TFS_WAIT_DEVICE;
	}
	marks[STEPS] = builder.now;
	return builder.graph;
}

static double per_step(const struct tfs_replay *replay, const struct tfs_edit *edits)
{
	static const struct tfs_replay_how near = {.follows_ns = TFS_FOLLOWS_NS};
	double finish[STEPS + 1];

	TEST_NEED(!tfs_replay_run(replay, &near, edits, finish));
	return (finish[STEPS] - finish[0]) / STEPS;
}

static void queues_without_what_launching_takes(void)
{
	static struct tfs_edit edits[STEPS * (SMALL + 2)];
	const struct tfs_graph graph = make();
	struct tfs_replay *replay = tfs_replay_create(&graph);
	const double queued = LATENCY + 4 * LONG_NS + SMALL * (GAP + SHORT_NS) + TAIL_NS;

	TEST_NEED(replay);
	TEST_IN(per_step(replay, NULL), marks[STEPS] / STEPS * 0.999, marks[STEPS] / STEPS * 1.001);
	for (unsigned i = 0; i < STEPS; i++)
		edits[i * (SMALL + 2)].scale = 4;
	TEST_IN(per_step(replay, edits), queued * 0.995, queued * 1.005);
	tfs_replay_destroy(replay);
}

/* What releasing memory takes is no delay, and not the same in each step. */
static double work_of(unsigned step)
{
	return 100 * US + 350 * US * (step % 3);
}

static void releases_memory(struct builder *builder, unsigned step)
{
	launch(builder, LONG_NS);
	struct tfs_graph_call *call = add_call(builder, builder->free_at + work_of(step));

	call->wait = TFS_WAIT_DEVICE;
	call->works = true;
}

static void what_a_call_does_behind_its_wait_is_its_own(void)
{
	static const struct tfs_replay_how usual = {.follows_ns = TFS_FOLLOWS_NS, .usual = true};
	struct tfs_edit edits[2 * STEPS] = {0};
	struct builder builder = {.graph = {.calls = calls,
					  .ops = ops,
					  .streams = streams,
					  .busy_ns = busy,
					  .marks = marks,
					  .stream_count = 1,
					  .thread_count = 1,
					  .marks_count = STEPS + 1}};
	double finish[STEPS + 1], host = 0;
	struct tfs_replay *replay;

	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		releases_memory(&builder, i);
		edits[2 * i].scale = 0.01f;
		host += (LATENCY + LONG_NS / 100 + work_of(i)) / STEPS;
	}
	marks[STEPS] = builder.now;
	replay = tfs_replay_create(&builder.graph);
	TEST_NEED(replay);
	TEST_NEED(!tfs_replay_run(replay, &usual, NULL, finish));
	for (unsigned i = 0; i < STEPS; i++)
		TEST_IN(finish[i + 1] - finish[i], (marks[i + 1] - marks[i]) * 0.99,
			(marks[i + 1] - marks[i]) * 1.01);
	TEST_IN(tfs_replay_own_ns(replay, 3), work_of(1) * 0.99, work_of(1) * 1.01);
	TEST_IN(per_step(replay, edits), host * 0.99, host * 1.01);
	tfs_replay_destroy(replay);
}

int main(void)
{
	what_a_call_does_behind_its_wait_is_its_own();
	queues_without_what_launching_takes();
	return test_result();
}
