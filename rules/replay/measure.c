/* SPDX-License-Identifier: MIT */
#include "rules/replay/measure.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/replay/turns.h"

/* Host and device clocks agree to about this. */
#define SKEW_NS 2000.0
/* From a call to its operation, and between operations, where none was measured. */
#define SUBMIT_NS 4000.0
#define GAP_NS 1000.0
#define CALL_NS 4000.0
/* After so many, hardly any operation is bound by something else than before. */
#define ROUNDS 3u

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count, double fallback)
{
	if (!count)
		return fallback;
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

/* What the call's wait was like in the measurement; its operations are in the state already. */
static struct tfs_call_wait measure_wait(const struct tfs_replay_state *state,
	const struct tfs_graph *graph, const struct tfs_graph_call *call)
{
	double duration = call->end_ns - call->start_ns;
	double target = tfs_replay_state_target(state, graph, call);
	struct tfs_call_wait wait = {.own_ns = duration};
	double slack = SKEW_NS;

	if (call->wait == TFS_WAIT_NONE)
		return wait;
	/* A staged copy lets the host go when the last piece is read, not when it has arrived. */
	if (call->wait == TFS_WAIT_OWN && call->ops) {
		const struct tfs_graph_op *op = &graph->ops[call->first_op + call->ops - 1];

		slack += op->end_ns - op->start_ns;
	}
	wait.valid = call->end_ns + slack >= target;
	wait.waited = wait.valid && target > call->start_ns;
	wait.tail_ns = call->end_ns - target;
	if (call->works && wait.valid)
		wait.own_ns = wait.tail_ns = wait.waited ? wait.tail_ns : duration;
	else if (wait.waited)
		wait.own_ns = tfs_replay_between(duration, 0, TFS_OWN_NS);
	return wait;
}

/* Returns how long a full queue held the call before it. */
static double measure_op(struct tfs_replay_state *state, struct tfs_replay *replay,
	const double *turns, const struct tfs_graph_call *call, uint32_t index)
{
	const struct tfs_graph_op *op = &replay->graph->ops[index];
	double submit = op->start_ns - (call->start_ns + op->submit_ns);
	double gap = op->start_ns - tfs_replay_state_after(state, replay->graph, op->stream);
	double turn =
		op->start_ns - (turns[index] < 0 ? tfs_replay_state_engine(state, replay->graph, op)
						 : turns[index]);
	double held = tfs_replay_state_slot(state, op->stream) - call->start_ns - op->submit_ns;

	/* What a stream's first one followed may have been before the recording. */
	replay->delays[index] =
		(struct tfs_op_delay){submit, gap, turn, state->given[op->stream] > 0, false};
	tfs_replay_state_push(state, replay->graph, op, op->end_ns, false);
	return held;
}

/* Follows the measurement: what each operation and each wait followed from. */
static void measure_calls(
	struct tfs_replay_state *state, struct tfs_replay *replay, const double *turns)
{
	const struct tfs_graph *graph = replay->graph;

	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];

		for (; state->mark < graph->marks_count &&
			graph->marks[state->mark] <= call->start_ns;
			state->mark++)
			replay->measured[state->mark] =
				tfs_replay_later(graph->marks[state->mark], state->device);
		double held = 0;

		for (uint32_t j = call->first_op; j < call->first_op + call->ops; j++)
			held = tfs_replay_later(held, measure_op(state, replay, turns, call, j));
		replay->waits[i] = measure_wait(state, graph, call);
		/* That time is the device's, not the call's own. */
		if (!replay->waits[i].waited)
			replay->waits[i].own_ns =
				tfs_replay_later(replay->waits[i].own_ns - held, 0);
		tfs_replay_state_act(state, graph, call);
	}
	for (; state->mark < graph->marks_count; state->mark++)
		replay->measured[state->mark] =
			tfs_replay_later(graph->marks[state->mark], state->device);
}

/* What it waited for on the device: its stream or its engine. */
static double behind_of(const struct tfs_op_delay *delay)
{
	const double turn = delay->after_engine_ns, gap = delay->after_stream_ns;

	return turn >= 0 && turn < gap ? turn : gap;
}

/* What is the later of the two with the usual delays: it takes longer from a call to its operation
 * than from one operation to the next. */
static bool bound_by_host(const struct tfs_op_delay *delay, const struct tfs_op_delay *usual)
{
	return delay->after_submit_ns - usual->after_submit_ns <=
	       behind_of(delay) - usual->after_stream_ns;
}

/* Work of other streams is followed as closely as it was, or overlapped as far as it was. */
static void settle_op(struct tfs_op_delay *delay, const struct tfs_op_delay *usual)
{
	const double turn = delay->after_engine_ns, gap = usual->after_stream_ns;
	const double engine = turn < 0 ? turn : tfs_replay_between(gap, 0, turn);
	const double stream = tfs_replay_between(gap, 0, delay->after_stream_ns);

	if (delay->by_host) {
		delay->after_stream_ns = stream;
		delay->after_engine_ns = engine;
	} else {
		delay->after_submit_ns =
			tfs_replay_between(usual->after_submit_ns, 0, delay->after_submit_ns);
		if (behind_of(delay) < delay->after_stream_ns)
			delay->after_stream_ns = stream;
		else
			delay->after_engine_ns = engine;
	}
	delay->after_submit_ns = tfs_replay_later(delay->after_submit_ns, 0);
	delay->after_stream_ns = tfs_replay_later(delay->after_stream_ns, 0);
}

/* The median of the delays, of one kind (or any, where that is none) and behind the host's call or
 * behind the device's work. */
static double usual_delay(
	const struct tfs_replay *replay, double *room, uint32_t kind, bool host, double fallback)
{
	const struct tfs_graph *graph = replay->graph;
	size_t count = 0;

	for (size_t i = 0; i < graph->ops_count; i++) {
		const struct tfs_op_delay *delay = &replay->delays[i];

		if (delay->usable && delay->by_host == host &&
			(kind > graph->engine_count ||
				tfs_replay_kind(graph, &graph->ops[i]) == kind))
			room[count++] = host ? delay->after_submit_ns : behind_of(delay);
	}
	return median(room, count, fallback);
}

/* The same of waits, of one kind or (TFS_WAIT_NONE) any. */
static double usual_tail(
	const struct tfs_replay *replay, double *room, enum tfs_wait kind, double fallback)
{
	size_t count = 0;

	for (size_t i = 0; i < replay->graph->calls_count; i++)
		if (replay->waits[i].waited && replay->waits[i].tail_ns >= 0 &&
			!replay->graph->calls[i].works &&
			(kind == TFS_WAIT_NONE || replay->graph->calls[i].wait == kind))
			room[count++] = replay->waits[i].tail_ns;
	return median(room, count, fallback);
}

/* Of calls that give the device work, and do not wait. */
static double usual_call(const struct tfs_replay *replay, double *room)
{
	size_t count = 0;

	for (size_t i = 0; i < replay->graph->calls_count; i++)
		if (replay->graph->calls[i].ops && replay->graph->calls[i].wait == TFS_WAIT_NONE)
			room[count++] = replay->waits[i].own_ns;
	return median(room, count, CALL_NS);
}

/* Copies of each direction start as late as kernels do not; what follows other work does so alike.
 */
static void find_usual(struct tfs_replay *replay, double *room, double fallback)
{
	const struct tfs_graph *graph = replay->graph;
	const double submit = usual_delay(replay, room, TFS_NONE, true, SUBMIT_NS);
	const double gap =
		fallback > 0 ? fallback : usual_delay(replay, room, TFS_NONE, false, GAP_NS);

	replay->usual_submit_ns = submit;
	for (uint32_t i = 0; i <= graph->engine_count; i++)
		replay->usual[i] = (struct tfs_op_delay){
			usual_delay(replay, room, i, true, submit), gap, gap, true, false};
}

/* What bound an operation is told by the usual delays, and these by what did. It begins with what
 * is certain: whose stream was idle for longer than its call needed waited for that alone. */
static void find_binding(struct tfs_replay *replay, double *room)
{
	const struct tfs_graph *graph = replay->graph;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < graph->ops_count; i++)
			replay->delays[i].by_host = bound_by_host(&replay->delays[i],
				&replay->usual[tfs_replay_kind(graph, &graph->ops[i])]);
		find_usual(replay, room, round ? 0 : GAP_NS);
	}
}

/* What bound an operation or a wait keeps its own delay; what did not gets the usual one, but never
 * so much that it would bind. */
static void settle(struct tfs_replay *replay, double *room)
{
	const struct tfs_graph *graph = replay->graph;
	const double tail = usual_tail(replay, room, TFS_WAIT_NONE, TFS_OWN_NS);

	find_binding(replay, room);
	for (enum tfs_wait kind = TFS_WAIT_NONE; kind <= TFS_WAIT_OWN; kind++)
		replay->usual_tail_ns[kind] = usual_tail(replay, room, kind, tail);
	replay->usual_call_ns = usual_call(replay, room);
	for (size_t i = 0; i < graph->ops_count; i++)
		settle_op(
			&replay->delays[i], &replay->usual[tfs_replay_kind(graph, &graph->ops[i])]);
	for (size_t i = 0; i < graph->calls_count; i++)
		if (replay->waits[i].valid && !replay->waits[i].waited && !graph->calls[i].works)
			replay->waits[i].tail_ns =
				tfs_replay_between(replay->usual_tail_ns[graph->calls[i].wait], 0,
					replay->waits[i].tail_ns);
}

int tfs_replay_measure(struct tfs_replay *replay)
{
	const struct tfs_graph *graph = replay->graph;
	double *room = malloc((graph->ops_count + graph->calls_count + 1) * sizeof(*room));
	double *turns = tfs_turns_find(graph);
	struct tfs_replay_state state;

	if (!room || !turns || tfs_replay_state_init(&state, graph, replay->depth)) {
		free(room);
		free(turns);
		return -ENOMEM;
	}
	measure_calls(&state, replay, turns);
	settle(replay, room);
	tfs_replay_state_finish(&state);
	free(room);
	free(turns);
	return 0;
}
