/* SPDX-License-Identifier: MIT */
/* What recording takes of the host's time in calls can be taken out of a replay. */
#include <math.h>

#include "rules/replay/replay.h"
#include "tests/test.h"

#define US 1000.0
#define STEPS 8u
#define LAUNCHES 10u
#define LAUNCH_NS (10 * US)
#define PAUSE_NS (2 * US)

static struct tfs_graph_call calls[STEPS * LAUNCHES];
static struct tfs_graph_op ops[STEPS * LAUNCHES];
static struct tfs_graph_stream streams[1] = {{.blocking = true}};
static double busy[1], marks[STEPS + 1], is[STEPS + 1];

/* Launches one behind the other, with a pause before each; a kernel starts halfway through its
 * launch, or behind the one before. */
static struct tfs_graph make(double kernel_ns)
{
	double now = 0, free_at = 0;

	for (unsigned i = 0; i < STEPS * LAUNCHES; i++) {
		if (i % LAUNCHES == 0)
			marks[i / LAUNCHES] = now;
		now += PAUSE_NS;
		calls[i] = (struct tfs_graph_call){.start_ns = now,
			.end_ns = now + LAUNCH_NS,
			.stream = TFS_NONE,
			.event = TFS_NONE,
			.first_op = i,
			.ops = 1};
		ops[i] = (struct tfs_graph_op){.start_ns = fmax(now + LAUNCH_NS / 2, free_at),
			.submit_ns = LAUNCH_NS / 2,
			.engine = TFS_NONE};
		free_at = ops[i].end_ns = ops[i].start_ns + kernel_ns;
		now += LAUNCH_NS;
	}
	marks[STEPS] = now;
	return (struct tfs_graph){.calls = calls,
		.ops = ops,
		.streams = streams,
		.busy_ns = busy,
		.marks = marks,
		.calls_count = STEPS * LAUNCHES,
		.ops_count = STEPS * LAUNCHES,
		.stream_count = 1,
		.thread_count = 1,
		.marks_count = STEPS + 1};
}

/* The time of a step, with such a part of each call taken out. */
static double step_ns(const struct tfs_graph *graph, double part)
{
	const struct tfs_replay_how how = {.eases = part};
	struct tfs_replay *replay = tfs_replay_create(graph);

	TEST_TRUE(replay && !tfs_replay_run(replay, &how, NULL, is));
	tfs_replay_destroy(replay);
	return (is[STEPS - 1] - is[1]) / (STEPS - 2);
}

int main(void)
{
	struct tfs_graph graph = make(1 * US);

	/* The host binds: its pauses stay as they are. */
	TEST_EQ(lround(step_ns(&graph, 0)), lround(LAUNCHES * (PAUSE_NS + LAUNCH_NS)));
	TEST_EQ(lround(step_ns(&graph, 0.3)), lround(LAUNCHES * (PAUSE_NS + 0.7 * LAUNCH_NS)));
	/* The device binds. */
	graph = make(30 * US);
	TEST_EQ(lround(step_ns(&graph, 0.3)), lround(LAUNCHES * 30 * US));
	return test_result();
}
