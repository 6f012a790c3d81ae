/* SPDX-License-Identifier: MIT */
/* What the host does less between its calls, or in calls that give all their work at once. */
#include "rules/replay/replay.h"

#include "tests/test.h"

#define US 1000.0
#define STEPS 12u
#define LAUNCHES 5u
#define CALLS (LAUNCHES + 1)
#define LATENCY (6 * US)
#define LAUNCH_NS (20 * US)
#define KERNEL_NS (10 * US)
#define OWN_NS (40 * US) /* before a step and at its beginning */
#define TAIL_NS (2 * US)

static struct tfs_graph_call calls[STEPS * CALLS];
static struct tfs_graph_op ops[STEPS * LAUNCHES];
static struct tfs_graph_stream streams[1] = {{.blocking = true}};
static double busy[1], marks[STEPS + 1];

/* A step: the host's own code, launches, a wait, and own code. The host binds. */
static struct tfs_graph make(void)
{
	double now = 0;
	size_t call = 0, op = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = now;
		now += OWN_NS;
		for (unsigned j = 0; j < LAUNCHES; j++) {
			calls[call++] = (struct tfs_graph_call){.start_ns = now,
				.end_ns = now + LAUNCH_NS,
				.stream = TFS_NONE,
				.event = TFS_NONE,
				.first_op = (uint32_t)op,
				.ops = 1};
			ops[op++] = (struct tfs_graph_op){.start_ns = now + LATENCY,
				.end_ns = now + LATENCY + KERNEL_NS,
				.submit_ns = LATENCY / 2,
				.engine = TFS_NONE};
			now += LAUNCH_NS;
		}
		calls[call++] = (struct tfs_graph_call){.start_ns = now,
			.end_ns = now + TAIL_NS,
			.stream = TFS_NONE,
			.event = TFS_NONE,
			.first_op = (uint32_t)op,
			.wait = TFS_WAIT_DEVICE};
		now += TAIL_NS + OWN_NS;
	}
	marks[STEPS] = now;
	return (struct tfs_graph){.calls = calls,
		.ops = ops,
		.streams = streams,
		.busy_ns = busy,
		.marks = marks,
		.calls_count = call,
		.ops_count = op,
		.stream_count = 1,
		.thread_count = 1,
		.marks_count = STEPS + 1};
}

/* What each step takes with such an edit at so many calls of it from the nth on. */
static void check(unsigned nth, unsigned count, struct tfs_edit edit, double want_ns)
{
	static const struct tfs_replay_how near = {.follows_ns = TFS_FOLLOWS_NS};
	const struct tfs_graph graph = make();
	struct tfs_replay *replay = tfs_replay_create(&graph);
	struct tfs_edit edits[STEPS * CALLS] = {0};
	double finish[STEPS + 1];

	TEST_NEED(replay);
	for (unsigned i = 0; i < STEPS; i++)
		for (unsigned j = 0; j < count; j++)
			edits[i * CALLS + nth + j] = edit;
	TEST_NEED(!tfs_replay_run(replay, &near, edits, finish));
	for (unsigned i = 1; i + 1 < STEPS; i++)
		TEST_IN(finish[i + 1] - finish[i], want_ns - 1.5 * US, want_ns + 1.5 * US);
	tfs_replay_destroy(replay);
}

int main(void)
{
	const double step_ns = 2 * OWN_NS + LAUNCHES * LAUNCH_NS + TAIL_NS;

	check(0, 0, (struct tfs_edit){0}, step_ns);
	/* As much as it did, and no more than that. */
	check(0, 1, (struct tfs_edit){.cuts_ns = (float)(30 * US)}, step_ns - 30 * US);
	check(0, 1, (struct tfs_edit){.cuts_ns = (float)(55 * US)}, step_ns - 55 * US);
	check(0, 1, (struct tfs_edit){.cuts_ns = (float)(500 * US)}, step_ns - 2 * OWN_NS);
	check(1, 1, (struct tfs_edit){.cuts_ns = (float)(500 * US)}, step_ns);
	/* The device binds: kernels follow each other within a microsecond. */
	check(0, LAUNCHES, (struct tfs_edit){.at_once = true},
		2 * OWN_NS + LATENCY / 2 + LAUNCHES * KERNEL_NS + (LAUNCHES - 1) * US + TAIL_NS);
	return test_result();
}
