/* SPDX-License-Identifier: MIT */
#include "rules/replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/replay/order.h"
#include "rules/replay/replay_state.h"

/* What a call costs the host once there is nothing to wait for, where nothing better is known. */
#define OWN_NS 2000.0
/* Host and device clocks agree to about this. */
#define SKEW_NS 2000.0

/* How an operation's start followed from what came before it. */
struct op_delay {
	double after_submit_ns;
	double after_stream_ns;
	double after_engine_ns; /* negative: it ran beside another stream's */
};

struct call_wait {
	bool valid;  /* the wait is one: the call did not return before its target */
	bool waited; /* and it had something to wait for */
	double own_ns;
	double tail_ns; /* from the target's end to the return; negative: staged copies */
};

struct tfs_replay {
	const struct tfs_graph *graph;
	struct op_delay *delays;
	struct call_wait *waits;
	double *measured;
	struct tfs_order *order;
};

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

static double between(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* What the call's wait was like in the measurement; its operations are in the state already. */
static struct call_wait measure_wait(const struct tfs_replay_state *state,
	const struct tfs_graph *graph, const struct tfs_graph_call *call)
{
	double duration = call->end_ns - call->start_ns;
	double target = tfs_replay_state_target(state, graph, call);
	struct call_wait wait = {.own_ns = duration};
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
	if (wait.waited)
		wait.own_ns = between(duration, 0, OWN_NS);
	return wait;
}

/* Values of one kind, to find the usual one. */
struct sample {
	double *values;
	size_t count;
};

/* Samples of what the graph's constants are made of. */
struct samples {
	struct sample submits; /* from a call to its operation on an idle stream */
	struct sample gaps;    /* between operations that follow each other */
	struct sample tails;   /* from the end of what was waited for to the wait's return */
};

static void measure_op(struct tfs_replay_state *state, struct tfs_replay *replay,
	const struct tfs_graph_call *call, uint32_t index, struct samples *samples)
{
	const struct tfs_graph_op *op = &replay->graph->ops[index];
	double submit = op->start_ns - (call->start_ns + op->submit_ns);
	double gap = op->start_ns - tfs_replay_state_after(state, replay->graph, op->stream);
	double turn = op->start_ns - tfs_replay_state_engine(state, replay->graph, op);
	double behind = turn >= 0 && turn < gap ? turn : gap;
	struct sample *sample = submit <= behind ? &samples->submits : &samples->gaps;

	replay->delays[index] = (struct op_delay){submit, gap, turn};
	/* What a stream's first one followed may have been before the recording. */
	if (state->given[op->stream] > 0)
		sample->values[sample->count++] = submit <= behind ? submit : behind;
	tfs_replay_state_push(state, replay->graph, op, op->end_ns);
}

/* Follows the measurement: what each operation and each wait followed from. */
static void measure_calls(
	struct tfs_replay_state *state, struct tfs_replay *replay, struct samples *samples)
{
	const struct tfs_graph *graph = replay->graph;

	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];

		for (; state->mark < graph->marks_count &&
			graph->marks[state->mark] <= call->start_ns;
			state->mark++)
			replay->measured[state->mark] =
				tfs_replay_later(graph->marks[state->mark], state->device);
		for (uint32_t j = call->first_op; j < call->first_op + call->ops; j++)
			measure_op(state, replay, call, j, samples);
		replay->waits[i] = measure_wait(state, graph, call);
		if (replay->waits[i].waited && replay->waits[i].tail_ns >= 0)
			samples->tails.values[samples->tails.count++] = replay->waits[i].tail_ns;
		tfs_replay_state_act(state, graph, call);
	}
	for (; state->mark < graph->marks_count; state->mark++)
		replay->measured[state->mark] =
			tfs_replay_later(graph->marks[state->mark], state->device);
}

/* Work of other streams is followed as closely as it was, or overlapped as far as it was. */
static void settle_op(struct op_delay *delay, double submit, double gap)
{
	const double turn = delay->after_engine_ns;
	const double behind =
		turn >= 0 && turn < delay->after_stream_ns ? turn : delay->after_stream_ns;

	if (delay->after_submit_ns <= behind) {
		delay->after_stream_ns = between(gap, 0, delay->after_stream_ns);
		delay->after_engine_ns = turn < 0 ? turn : between(gap, 0, turn);
	} else {
		delay->after_submit_ns = between(submit, 0, delay->after_submit_ns);
		if (behind < delay->after_stream_ns)
			delay->after_stream_ns = between(gap, 0, delay->after_stream_ns);
		else
			delay->after_engine_ns = turn < 0 ? turn : between(gap, 0, turn);
	}
	delay->after_submit_ns = tfs_replay_later(delay->after_submit_ns, 0);
	delay->after_stream_ns = tfs_replay_later(delay->after_stream_ns, 0);
}

/* What bound an operation or a wait keeps its own delay; what did not gets the usual one, but never
 * so much that it would bind. */
static void settle(struct tfs_replay *replay, struct samples *samples)
{
	double submit = median(samples->submits.values, samples->submits.count, 4000);
	double gap = median(samples->gaps.values, samples->gaps.count, 1000);
	double tail = median(samples->tails.values, samples->tails.count, OWN_NS);

	for (size_t i = 0; i < replay->graph->ops_count; i++)
		settle_op(&replay->delays[i], submit, gap);
	for (size_t i = 0; i < replay->graph->calls_count; i++)
		if (replay->waits[i].valid && !replay->waits[i].waited)
			replay->waits[i].tail_ns = between(tail, 0, replay->waits[i].tail_ns);
}

static int measure(struct tfs_replay *replay)
{
	const struct tfs_graph *graph = replay->graph;
	double *values = malloc((graph->ops_count * 2 + graph->calls_count + 1) * sizeof(double));
	struct samples samples = {.submits.values = values,
		.gaps.values = values + graph->ops_count,
		.tails.values = values + graph->ops_count * 2};
	struct tfs_replay_state state;

	if (!values || tfs_replay_state_init(&state, graph)) {
		free(values);
		return -ENOMEM;
	}
	measure_calls(&state, replay, &samples);
	settle(replay, &samples);
	tfs_replay_state_finish(&state);
	free(values);
	return 0;
}

struct tfs_replay *tfs_replay_create(const struct tfs_graph *graph)
{
	struct tfs_replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->graph = graph;
	replay->delays = calloc(graph->ops_count + 1, sizeof(*replay->delays));
	replay->waits = calloc(graph->calls_count + 1, sizeof(*replay->waits));
	replay->measured = calloc(graph->marks_count + 1, sizeof(double));
	replay->order = tfs_order_create(graph);
	if (!replay->order || !replay->delays || !replay->waits || !replay->measured ||
		measure(replay)) {
		tfs_replay_destroy(replay);
		return NULL;
	}
	return replay;
}

void tfs_replay_destroy(struct tfs_replay *replay)
{
	if (!replay)
		return;
	free(replay->delays);
	free(replay->waits);
	free(replay->measured);
	tfs_order_destroy(replay->order);
	free(replay);
}

void tfs_replay_measured(const struct tfs_replay *replay, double *out_finish_ns)
{
	memcpy(out_finish_ns, replay->measured, replay->graph->marks_count * sizeof(double));
}

const struct tfs_order *tfs_replay_order(const struct tfs_replay *replay)
{
	return replay->order;
}

bool tfs_replay_waited(const struct tfs_replay *replay, size_t call)
{
	return replay->waits[call].waited;
}

/* Hands a call's operations to their streams; returns how long a full queue held the host. */
static double run_ops(struct tfs_replay_state *state, const struct tfs_replay *replay,
	const struct tfs_graph_call *call, double start, double scale)
{
	const struct tfs_graph *graph = replay->graph;
	double held = 0;

	for (uint32_t j = call->first_op; j < call->first_op + call->ops; j++) {
		const struct tfs_graph_op *op = &graph->ops[j];
		double submit = start + held + op->submit_ns;
		double slot = tfs_replay_state_slot(state, op->stream);
		double begin;

		if (slot > submit) {
			held += slot - submit;
			submit = slot;
		}
		begin = tfs_replay_later(submit + replay->delays[j].after_submit_ns,
			tfs_replay_state_after(state, graph, op->stream) +
				replay->delays[j].after_stream_ns);
		begin = tfs_replay_later(begin, tfs_replay_state_engine(state, graph, op) +
							replay->delays[j].after_engine_ns);
		tfs_replay_state_push(
			state, graph, op, begin + (op->end_ns - op->start_ns) * scale);
	}
	return held;
}

static double run_call(struct tfs_replay_state *state, const struct tfs_replay *replay,
	size_t index, double start, const struct tfs_edit *edit)
{
	const struct tfs_graph_call *call = &replay->graph->calls[index];
	const struct call_wait *wait = &replay->waits[index];
	double end, target, scale = edit && edit->scale > 0 ? (double)edit->scale : 1;

	if (edit && edit->orders && wait->valid)
		tfs_replay_state_fence(state, replay->graph, call);
	if (edit && edit->gone)
		return start;
	end = start + wait->own_ns + run_ops(state, replay, call, start, scale);
	if (edit && edit->no_wait)
		end = start + between(wait->own_ns, 0, OWN_NS) + (end - start - wait->own_ns);
	else if (wait->valid) {
		target = tfs_replay_state_target(state, replay->graph, call);
		end = tfs_replay_later(
			end, target + wait->tail_ns * (wait->tail_ns < 0 ? scale : 1));
	}
	tfs_replay_state_act(state, replay->graph, call);
	return end;
}

/* Behind what a thread does at a measured moment: what it did before, or what another thread did
 * since then. Returns the moment in the replay. */
static double host_at(const struct tfs_replay_state *state, const struct tfs_replay *replay,
	const struct tfs_replay_how *how, uint32_t thread, double measured_ns)
{
	const struct tfs_order *order = replay->order;
	uint32_t followed = thread;

	for (uint32_t i = 0; i < order->count && order->launches[thread]; i++) {
		const uint32_t other = order->threads[i];

		if (state->left[other] > state->left[followed] &&
			state->left[other] <= measured_ns &&
			measured_ns - state->left[other] <= how->follows_ns)
			followed = other;
	}
	return tfs_replay_later(state->host[thread],
		state->host[followed] + tfs_replay_later(measured_ns - state->left[followed], 0));
}

/* A step begins, or the last one ends. */
static void pass_mark(struct tfs_replay_state *state, const struct tfs_replay *replay,
	const struct tfs_replay_how *how, double *out_finish_ns)
{
	const struct tfs_graph *graph = replay->graph;
	const uint32_t thread = graph->main_thread;
	const double measured_ns = graph->marks[state->mark];

	state->host[thread] = host_at(state, replay, how, thread, measured_ns);
	state->left[thread] = tfs_replay_later(state->left[thread], measured_ns);
	out_finish_ns[state->mark++] = tfs_replay_later(state->host[thread], state->device);
}

int tfs_replay_run(const struct tfs_replay *replay, const struct tfs_replay_how *how,
	const struct tfs_edit *edits, double *out_finish_ns)
{
	const struct tfs_graph *graph = replay->graph;
	struct tfs_replay_state state;

	if (tfs_replay_state_init(&state, graph))
		return -ENOMEM;
	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];
		double start;

		while (call->thread == graph->main_thread && state.mark < graph->marks_count &&
			graph->marks[state.mark] <= call->start_ns)
			pass_mark(&state, replay, how, out_finish_ns);
		start = host_at(&state, replay, how, call->thread, call->start_ns);
		state.host[call->thread] =
			run_call(&state, replay, i, start, edits ? &edits[i] : NULL);
		state.left[call->thread] = call->end_ns;
	}
	while (state.mark < graph->marks_count)
		pass_mark(&state, replay, how, out_finish_ns);
	tfs_replay_state_finish(&state);
	return 0;
}
