/* SPDX-License-Identifier: MIT */
/* Replays of graphs made by hand, whose answers are known. */
#include "rules/replay/replay.h"
#include "tests/test.h"

/* Two streams, one thread; each step: launch 100, [wait], launch 100, wait, host work 50. All in
 * nanoseconds, with latency 4000 from a call to its operation on an idle stream. */
#define US 1000.0
#define STEPS 10u
#define CALLS_PER_STEP 4u

static const struct tfs_replay_how near = {.follows_ns = TFS_FOLLOWS_NS};
static struct tfs_graph_call calls[STEPS * CALLS_PER_STEP];
static struct tfs_graph_op ops[STEPS * 2];
static struct tfs_graph_stream streams[1] = {{.legacy = true, .blocking = true}};
static double busy[1], marks[STEPS + 1];

/* A step: kernel A of 100 us, wait, kernel B of 50 us, wait, then 30 us of host work. `twice` makes
 * the first wait come right before the second instead: nothing lies between them. */
static struct tfs_graph make(bool twice)
{
	double now = 0, free_at = 0;
	size_t call = 0, op = 0;

	memset(calls, 0, sizeof(calls));
	for (unsigned i = 0; i < STEPS; i++) {
		static const bool waits[2][CALLS_PER_STEP] = {
			{false, true, false, true}, {false, false, true, true}};
		double work = 100 * US;

		marks[i] = now;
		for (unsigned j = 0; j < CALLS_PER_STEP; j++) {
			struct tfs_graph_call *node = &calls[call++];

			node->start_ns = now;
			node->stream = node->event = TFS_NONE;
			if (waits[twice][j]) {
				node->wait = TFS_WAIT_DEVICE;
				now = (free_at > now ? free_at : now) + 2 * US;
				node->first_op = (uint32_t)op;
			} else {
				double start = now + 4 * US;

				start = start > free_at + US ? start : free_at + US;
				node->first_op = (uint32_t)op;
				node->ops = 1;
				ops[op++] = (struct tfs_graph_op){start, start + work, 0, 0, 0};
				free_at = start + work;
				now += 3 * US;
				work = 50 * US;
			}
			node->end_ns = now;
		}
		now += 30 * US;
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

static double per_step(const struct tfs_replay *replay, const struct tfs_edit *edits)
{
	double finish[STEPS + 1];

	TEST_NEED(!tfs_replay_run(replay, &near, edits, finish));
	return (finish[STEPS] - finish[0]) / STEPS;
}

static double saved(
	const struct tfs_replay *replay, unsigned first, unsigned second, struct tfs_edit edit)
{
	struct tfs_edit edits[STEPS * CALLS_PER_STEP] = {0};

	for (unsigned i = 0; i < STEPS; i++) {
		edits[i * CALLS_PER_STEP + first] = edit;
		edits[i * CALLS_PER_STEP + second] = edit;
	}
	return per_step(replay, NULL) - per_step(replay, edits);
}

/* An event that a context records stands behind all streams, as a wait for the device does. */
static void context_events_follow_all(void)
{
	struct tfs_graph graph = make(false);
	struct tfs_replay *replay;

	graph.event_count = 1;
	for (size_t i = 0; i < graph.calls_count; i++) {
		calls[i].event = 0;
		if (calls[i].wait == TFS_WAIT_DEVICE)
			calls[i].wait = TFS_WAIT_EVENT;
		else
			calls[i].action = TFS_ACTION_RECORD;
	}
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay);
	/* Kernels half as long. */
	TEST_IN(saved(replay, 0, 2, (struct tfs_edit){.scale = 0.5f}), 74 * US, 76 * US);
	tfs_replay_destroy(replay);
}

static void gives_back_the_measured_time(void)
{
	struct tfs_graph graph = make(false);
	struct tfs_replay *replay = tfs_replay_create(&graph);
	double finish[STEPS + 1], measured;

	TEST_NEED(replay);
	tfs_replay_measured(replay, finish);
	measured = (finish[STEPS] - finish[0]) / STEPS;
	TEST_IN(per_step(replay, NULL), measured * 0.999, measured * 1.001);
	/* 4 + 100 + 2, 4 + 50 + 2, 30 */
	TEST_IN(measured, 191.9 * US, 192.1 * US);
	tfs_replay_destroy(replay);
}

/* Without the first wait the second kernel follows the first one at once: 100 + 1 + 50 instead of
 * 100 + 2 + 4 + 50, and the launch's 3 us are hidden too. */
static void wait_between_two_kernels(void)
{
	struct tfs_graph graph = make(false);
	struct tfs_replay *replay = tfs_replay_create(&graph);

	TEST_NEED(replay);
	TEST_IN(saved(replay, 1, 1, (struct tfs_edit){.gone = true}), 3 * US, 8 * US);
	/* Without any wait the device is all that is left: 151 us, and one gap more. */
	TEST_IN(saved(replay, 1, 3, (struct tfs_edit){.gone = true}), 36 * US, 41 * US);
	tfs_replay_destroy(replay);
}

/* Kernel A of 100 us on one stream, then B of 100 us on another, and a wait for both. Returns what
 * A of half the length saves. */
static double saved_beside(
	struct tfs_graph_stream first, struct tfs_graph_stream second, bool one_after_the_other)
{
	struct tfs_graph_stream kinds[2] = {first, second};
	struct tfs_edit edits[STEPS * 3] = {0};
	double none[2] = {0}, now = 0;

	memset(calls, 0, sizeof(calls));
	for (unsigned i = 0; i < STEPS; i++) {
		struct tfs_graph_call *node = &calls[3 * i];

		marks[i] = now;
		for (unsigned j = 0; j < 3; j++, node++) {
			double start = now + 4 * US;

			*node = (struct tfs_graph_call){.start_ns = now,
				.stream = TFS_NONE,
				.event = TFS_NONE,
				.first_op = 2 * i + j,
				.ops = j < 2};
			if (j == 1 && one_after_the_other)
				start = ops[2 * i].end_ns + US;
			if (j < 2)
				ops[2 * i + j] =
					(struct tfs_graph_op){start, start + 100 * US, 0, j, 0};
			node->wait = j < 2 ? TFS_WAIT_NONE : TFS_WAIT_DEVICE;
			now = j < 2 ? now + 3 * US : ops[2 * i + 1].end_ns + 2 * US;
			node->end_ns = now;
		}
		edits[3 * i].scale = 0.5f;
	}
	marks[STEPS] = now;
	const struct tfs_graph graph = {.calls = calls,
		.ops = ops,
		.streams = kinds,
		.busy_ns = none,
		.marks = marks,
		.calls_count = 3 * STEPS,
		.ops_count = 2 * STEPS,
		.stream_count = 2,
		.thread_count = 1,
		.marks_count = STEPS + 1};
	struct tfs_replay *replay = tfs_replay_create(&graph);

	TEST_NEED(replay);
	const double saved = per_step(replay, NULL) - per_step(replay, edits);
	tfs_replay_destroy(replay);
	return saved;
}

/* Only the legacy stream and blocking ones wait for each other. */
static void streams_wait_for_their_kind(void)
{
	const struct tfs_graph_stream legacy = {.legacy = true, .blocking = true};
	const struct tfs_graph_stream blocking = {.blocking = true}, other = {.blocking = false};

	TEST_IN(saved_beside(blocking, blocking, false), -US, US);
	TEST_IN(saved_beside(other, other, false), -US, US);
	TEST_IN(saved_beside(legacy, other, false), -US, US);
	TEST_IN(saved_beside(other, legacy, false), -US, US);
	TEST_IN(saved_beside(legacy, blocking, true), 49 * US, 51 * US);
	TEST_IN(saved_beside(blocking, legacy, true), 49 * US, 51 * US);
}

/* Two waits in a row: either alone saves nothing, both together what one would. */
static void one_of_two_waits_saves_nothing(void)
{
	struct tfs_graph graph = make(true);
	struct tfs_replay *replay = tfs_replay_create(&graph);
	struct tfs_edit gone = {.gone = true};

	TEST_NEED(replay);
	TEST_IN(saved(replay, 2, 2, gone), 0, 2.1 * US);
	TEST_IN(saved(replay, 3, 3, gone), 0, 2.1 * US);
	TEST_IN(saved(replay, 2, 3, gone), 30 * US, 45 * US);
	tfs_replay_destroy(replay);
}

static void shorter_work(void)
{
	struct tfs_graph graph = make(false);
	struct tfs_replay *replay = tfs_replay_create(&graph);

	TEST_NEED(replay);
	TEST_IN(saved(replay, 0, 0, (struct tfs_edit){.scale = 0.5f}), 49.9 * US, 50.1 * US);
	TEST_IN(saved(replay, 0, 0, (struct tfs_edit){.gone = true}), 100 * US, 108 * US);
	tfs_replay_destroy(replay);
}

/* Kernels of two streams, one after the other since the host waits between them. Without the wait
 * the second follows the first at once; on a device that had run them side by side it would start
 * with it. */
static void streams_share_an_engine(void)
{
	struct tfs_graph_stream two[2] = {{.blocking = false}, {.blocking = false}};
	double no_work[2] = {0};
	struct tfs_graph graph = make(false);
	struct tfs_replay *replay;

	graph.streams = two;
	graph.busy_ns = no_work;
	graph.stream_count = 2;
	for (size_t i = 1; i < graph.ops_count; i += 2)
		ops[i].stream = 1;
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay);
	TEST_IN(saved(replay, 1, 1, (struct tfs_edit){.gone = true}), 50 * US, 60 * US);
	tfs_replay_destroy(replay);
	graph.engine_count = 1;
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay);
	TEST_IN(saved(replay, 1, 1, (struct tfs_edit){.gone = true}), 3 * US, 8 * US);
	tfs_replay_destroy(replay);
}

/* A clock that runs behind: operations seem to start before they were submitted. The replay cannot
 * give that back, and says so. */
static void error_shows(void)
{
	struct tfs_graph graph = make(false);
	struct tfs_replay *replay;
	double finish[STEPS + 1], measured;

	for (size_t i = 0; i < graph.ops_count; i++) {
		ops[i].start_ns -= 20 * US;
		ops[i].end_ns -= 20 * US;
	}
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay);
	tfs_replay_measured(replay, finish);
	measured = (finish[STEPS] - finish[0]) / STEPS;
	TEST_TRUE(per_step(replay, NULL) > measured * 1.02);
	tfs_replay_destroy(replay);
}

/* The host cannot run ahead of the device without end: a full queue holds it back. */
static void full_queue_holds_the_host(void)
{
	enum { LAUNCHES = 4000 };
	struct tfs_graph graph = {.streams = streams,
		.busy_ns = busy,
		.calls_count = LAUNCHES,
		.ops_count = LAUNCHES,
		.stream_count = 1,
		.thread_count = 1,
		.marks_count = 2};
	double ends[2] = {0, LAUNCHES * 3 * US}, finish[2];
	struct tfs_replay *replay;

	graph.calls = calloc(LAUNCHES, sizeof(*graph.calls));
	graph.ops = calloc(LAUNCHES, sizeof(*graph.ops));
	graph.marks = ends;
	TEST_NEED(graph.calls && graph.ops);
	for (unsigned i = 0; i < LAUNCHES; i++) {
		graph.calls[i] = (struct tfs_graph_call){.start_ns = i * 3 * US,
			.end_ns = i * 3 * US + 2 * US,
			.first_op = i,
			.ops = 1,
			.stream = TFS_NONE,
			.event = TFS_NONE};
		graph.ops[i] =
			(struct tfs_graph_op){4 * US + i * 10 * US, 13 * US + i * 10 * US, 0, 0, 0};
	}
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay && !tfs_replay_run(replay, &near, NULL, finish));
	TEST_IN(finish[1], LAUNCHES * 10 * US - 20 * US, LAUNCHES * 10 * US + 20 * US);
	tfs_replay_destroy(replay);
	free(graph.calls);
	free(graph.ops);
}

/* A launch that a full queue holds lasts as long as a kernel: that is the device's time, and is
 * shorter where kernels are. */
static void held_launches_wait(void)
{
	enum { LAUNCHES = 3000, DEPTH = 1022 };
	static struct tfs_graph_call launches[LAUNCHES];
	static struct tfs_graph_op kernels[LAUNCHES];
	static struct tfs_edit edits[LAUNCHES];
	double ends[2] = {0}, finish[2], now = 0;
	struct tfs_graph graph = {.calls = launches,
		.ops = kernels,
		.streams = streams,
		.busy_ns = busy,
		.marks = ends,
		.calls_count = LAUNCHES,
		.ops_count = LAUNCHES,
		.stream_count = 1,
		.thread_count = 1,
		.marks_count = 2};
	struct tfs_replay *replay;

	for (unsigned i = 0; i < LAUNCHES; i++) {
		const double start = i ? kernels[i - 1].end_ns + US : 4 * US;

		launches[i] = (struct tfs_graph_call){.start_ns = now,
			.first_op = i,
			.ops = 1,
			.stream = TFS_NONE,
			.event = TFS_NONE};
		kernels[i] = (struct tfs_graph_op){start, start + 39 * US, 0, 0, 0};
		if (i >= DEPTH && kernels[i - DEPTH].end_ns > now)
			now = kernels[i - DEPTH].end_ns;
		now += 2 * US;
		launches[i].end_ns = now;
		edits[i].scale = 0.5f;
	}
	ends[1] = now;
	replay = tfs_replay_create(&graph);
	TEST_NEED(replay && !tfs_replay_run(replay, &near, NULL, finish));
	TEST_IN(finish[1], LAUNCHES * 40 * US - 20 * US, LAUNCHES * 40 * US + 20 * US);
	TEST_NEED(!tfs_replay_run(replay, &near, edits, finish));
	TEST_IN(finish[1], LAUNCHES * 20.5 * US - 20 * US, LAUNCHES * 20.5 * US + 20 * US);
	tfs_replay_destroy(replay);
}

int main(void)
{
	gives_back_the_measured_time();
	context_events_follow_all();
	wait_between_two_kernels();
	streams_wait_for_their_kind();
	one_of_two_waits_saves_nothing();
	shorter_work();
	streams_share_an_engine();
	error_shows();
	full_queue_holds_the_host();
	held_launches_wait();
	return test_result();
}
