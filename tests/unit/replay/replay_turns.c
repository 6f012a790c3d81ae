/* SPDX-License-Identifier: MIT */
/* Two streams are ready at once: which of them has the device first is not told by the calls. */
#include "rules/replay/replay.h"
#include "tests/test.h"

#define US 1000.0
#define STEPS 12u
#define CALLS 5u /* of a step */
#define LATENCY (70 * US)
#define LAUNCH_NS (10 * US)
#define LONG_NS (500 * US)
#define KERNEL_NS (800 * US)

static struct tfs_graph_call calls[STEPS * CALLS];
static struct tfs_graph_op ops[STEPS * 3];
static struct tfs_graph_stream streams[2];
static double busy[2], marks[STEPS + 1];

static void add(struct tfs_graph *graph, double *now, double end_ns, enum tfs_wait wait)
{
	calls[graph->calls_count++] = (struct tfs_graph_call){.start_ns = *now,
		.end_ns = end_ns,
		.stream = TFS_NONE,
		.event = TFS_NONE,
		.first_op = (uint32_t)graph->ops_count,
		.wait = wait};
	*now = end_ns;
}

static void give(
	struct tfs_graph *graph, double *now, uint32_t stream, double start_ns, double work_ns)
{
	add(graph, now, *now + LAUNCH_NS, TFS_WAIT_NONE);
	calls[graph->calls_count - 1].ops = 1;
	ops[graph->ops_count++] = (struct tfs_graph_op){
		.start_ns = start_ns, .end_ns = start_ns + work_ns, .stream = stream};
}

/* A kernel and a wait, and then a kernel of each stream, the other stream's first. In every third
 * step the one that was given last has the device first. */
static double make(struct tfs_graph *graph)
{
	double now = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		const bool turned = i % 3 == 2;

		marks[i] = now;
		give(graph, &now, 0, now + LATENCY, LONG_NS);
		add(graph, &now, now - LAUNCH_NS + LATENCY + LONG_NS, TFS_WAIT_DEVICE);

		const double ready = now + LATENCY + (turned ? LAUNCH_NS : 0);

		give(graph, &now, 1, ready + (turned ? KERNEL_NS : 0), KERNEL_NS);
		give(graph, &now, 0, ready + (turned ? 0 : KERNEL_NS), KERNEL_NS);
		add(graph, &now, ready + 2 * KERNEL_NS, TFS_WAIT_DEVICE);
	}
	return now;
}

int main(void)
{
	static const struct tfs_replay_how near = {.follows_ns = TFS_FOLLOWS_NS};
	struct tfs_graph graph = {.calls = calls,
		.ops = ops,
		.streams = streams,
		.busy_ns = busy,
		.marks = marks,
		.stream_count = 2,
		.engine_count = 1,
		.thread_count = 1,
		.marks_count = STEPS + 1};
	const double together = LATENCY + LONG_NS + 2 * KERNEL_NS;
	struct tfs_edit edits[STEPS * CALLS] = {0};
	struct tfs_replay *replay;
	double finish[STEPS + 1];

	marks[STEPS] = make(&graph);
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay);
	TEST_NEED(!tfs_replay_run(replay, &near, NULL, finish));
	TEST_IN(finish[STEPS], marks[STEPS] * 0.99, marks[STEPS] * 1.01);
	for (unsigned i = 0; i < STEPS; i++)
		edits[i * CALLS + 1].gone = true;
	TEST_NEED(!tfs_replay_run(replay, &near, edits, finish));
	for (unsigned i = 0; i < STEPS; i++)
		TEST_IN(finish[i + 1] - finish[i], together * 0.99, together * 1.01);
	tfs_replay_destroy(replay);
	return test_result();
}
