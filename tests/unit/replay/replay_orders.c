/* SPDX-License-Identifier: MIT */
/* What has one stream's work come after another's in a replay: events, and the order that a wait
 * gave. The device here runs both side by side where nothing orders them. */
#include "rules/replay/replay.h"

#include "tests/test.h"

#define US 1000.0
#define STEPS 12u
#define MOST 5u /* calls of a step */
#define LATENCY (5 * US)
#define CALL_NS (2 * US)
#define LONG_NS (300 * US)
#define SHORT_NS (100 * US)

enum { FIRST, SECOND, STREAMS };

enum between {
	AN_EVENT,  /* the second stream waits for the first */
	ANY_EVENT, /* every stream does */
	A_WAIT     /* the host does */
};

static struct tfs_graph_call calls[STEPS * MOST];
static struct tfs_graph_op ops[STEPS * 2];
static struct tfs_graph_stream streams[STREAMS];
static double busy[STREAMS], marks[STEPS + 1];

struct builder {
	struct tfs_graph graph;
	double now, free_at[STREAMS];
};

static struct tfs_graph_call *put(struct builder *builder, double end_ns)
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

static void launch(struct builder *builder, unsigned stream, double after_ns, double work_ns)
{
	const double soonest = builder->now + LATENCY;
	const double start = soonest > after_ns ? soonest : after_ns;

	put(builder, builder->now + CALL_NS)->ops = 1;
	ops[builder->graph.ops_count++] = (struct tfs_graph_op){
		.start_ns = start, .end_ns = start + work_ns, .stream = stream, .engine = TFS_NONE};
	builder->free_at[stream] = start + work_ns;
}

/* A step: long work on the first stream, what is between, short work on the second; the host waits
 * for that. */
static struct tfs_graph make(enum between between)
{
	struct builder builder = {.graph = {.calls = calls,
					  .ops = ops,
					  .streams = streams,
					  .busy_ns = busy,
					  .marks = marks,
					  .stream_count = STREAMS,
					  .event_count = 1,
					  .thread_count = 1,
					  .marks_count = STEPS + 1}};
	struct tfs_graph_call *call;

	for (unsigned i = 0; i < STEPS; i++) {
		marks[i] = builder.now;
		launch(&builder, FIRST, 0, LONG_NS);
		if (between == A_WAIT) {
			put(&builder, builder.free_at[FIRST] + CALL_NS)->wait = TFS_WAIT_DEVICE;
		} else {
			call = put(&builder, builder.now + CALL_NS);
			call->action = TFS_ACTION_RECORD;
			call->event = 0;
			call->stream = FIRST;
			call = put(&builder, builder.now + CALL_NS);
			call->action = TFS_ACTION_STREAM_WAIT;
			call->event = 0;
			call->stream = between == AN_EVENT ? SECOND : TFS_NONE;
		}
		launch(&builder, SECOND, builder.free_at[FIRST], SHORT_NS);
		call = put(&builder, builder.free_at[SECOND] + CALL_NS);
		call->wait = TFS_WAIT_STREAM;
		call->stream = SECOND;
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

/* What a step takes with such an edit at its nth call. */
static double edited(enum between between, unsigned nth, struct tfs_edit edit)
{
	const struct tfs_graph graph = make(between);
	const unsigned each = (unsigned)(graph.calls_count / STEPS);
	struct tfs_replay *replay = tfs_replay_create(&graph);
	struct tfs_edit edits[STEPS * MOST] = {0};

	TEST_NEED(replay);
	TEST_IN(per_step(replay, NULL), marks[STEPS] / STEPS * 0.999, marks[STEPS] / STEPS * 1.001);
	for (unsigned i = 0; i < STEPS; i++)
		edits[i * each + nth] = edit;
	const double step_ns = per_step(replay, edits);
	tfs_replay_destroy(replay);
	return step_ns;
}

static void about(double got_ns, double want_ns)
{
	TEST_IN(got_ns, want_ns - 6 * US, want_ns + 6 * US);
}

int main(void)
{
	const struct tfs_edit gone = {.gone = true}, longer = {.scale = 2},
			      shorter = {.scale = 0.5f};
	const struct tfs_edit ordered = {.gone = true, .orders = true};
	const struct tfs_edit not_waiting = {.no_wait = true, .orders = true};

	/* The second stream's work comes after the first one's, however long that takes. */
	about(edited(AN_EVENT, 0, longer), LATENCY + 2 * LONG_NS + SHORT_NS + CALL_NS);
	about(edited(AN_EVENT, 0, shorter), LATENCY + LONG_NS / 2 + SHORT_NS + CALL_NS);
	about(edited(ANY_EVENT, 0, longer), LATENCY + 2 * LONG_NS + SHORT_NS + CALL_NS);
	/* Without the host's wait it runs beside it, and the step is over when both are: unless the
	 * order is kept. */
	about(edited(A_WAIT, 1, gone), LATENCY + LONG_NS);
	about(edited(A_WAIT, 1, ordered), LATENCY + LONG_NS + SHORT_NS + CALL_NS);
	about(edited(A_WAIT, 1, not_waiting), LATENCY + LONG_NS + SHORT_NS + CALL_NS);
	return test_result();
}
