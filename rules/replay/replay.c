/* SPDX-License-Identifier: MIT */
#include "rules/replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/replay/measure.h"
#include "rules/replay/queue.h"

/* Work that was given at once follows what came before it on its stream no later than this. */
#define AT_ONCE_GAP_NS 1000.0

struct tfs_replay *tfs_replay_create(const struct tfs_graph *graph)
{
	struct tfs_replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->graph = graph;
	replay->delays = calloc(graph->ops_count + 1, sizeof(*replay->delays));
	replay->waits = calloc(graph->calls_count + 1, sizeof(*replay->waits));
	replay->measured = calloc(graph->marks_count + 1, sizeof(double));
	replay->usual = calloc((size_t)graph->engine_count + 1, sizeof(*replay->usual));
	replay->order = tfs_order_create(graph);
	replay->depth = tfs_queue_depth(graph);
	if (!replay->usual || !replay->order || !replay->depth || !replay->delays ||
		!replay->waits || !replay->measured || tfs_replay_measure(replay)) {
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
	free(replay->usual);
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

double tfs_replay_own_ns(const struct tfs_replay *replay, size_t call)
{
	return replay->waits[call].own_ns;
}

/* An operation's own delays, or the usual ones; how far it ran beside others is its own. A copy
 * that is not staged any more starts as soon as other work. */
static struct tfs_op_delay delay_of(const struct tfs_replay *replay,
	const struct tfs_replay_how *how, uint32_t op, const struct tfs_edit *edit)
{
	struct tfs_op_delay delay =
		how->usual ? replay->usual[tfs_replay_kind(replay->graph, &replay->graph->ops[op])]
			   : replay->delays[op];

	if (replay->delays[op].after_engine_ns < 0)
		delay.after_engine_ns = replay->delays[op].after_engine_ns;
	if (edit && edit->at_once) {
		delay.after_stream_ns =
			tfs_replay_between(delay.after_stream_ns, 0, AT_ONCE_GAP_NS);
		if (delay.after_engine_ns > AT_ONCE_GAP_NS)
			delay.after_engine_ns = AT_ONCE_GAP_NS;
	}
	if (edit && edit->no_wait && edit->scale > 0)
		delay.after_submit_ns =
			tfs_replay_between(replay->usual_submit_ns, 0, delay.after_submit_ns);
	return delay;
}

/* A call that does not wait any more is one with a stream to name: what it does on the legacy
 * stream goes to the stream that had the latest work, and holds up no other. */
static struct tfs_graph_op moved_op(const struct tfs_replay_state *state,
	const struct tfs_graph *graph, const struct tfs_graph_op *op, const struct tfs_edit *edit)
{
	struct tfs_graph_op moved = *op;

	if (edit && edit->no_wait && graph->streams[op->stream].legacy &&
		state->latest < graph->stream_count)
		moved.stream = state->latest;
	return moved;
}

/* Hands a call's operations to their streams; returns how long a full queue held the host. */
static double run_ops(struct tfs_replay_state *state, const struct tfs_replay *replay,
	const struct tfs_replay_how *how, const struct tfs_graph_call *call, double start,
	const struct tfs_edit *edit)
{
	const double scale = edit && edit->scale > 0 ? (double)edit->scale : 1;
	const struct tfs_graph *graph = replay->graph;
	const double eased = 1 - how->eases;
	const bool aside = edit && edit->aside;
	double held = 0;

	for (uint32_t j = call->first_op; j < call->first_op + call->ops; j++) {
		const struct tfs_op_delay delay = delay_of(replay, how, j, edit);
		const struct tfs_graph_op moved = moved_op(state, graph, &graph->ops[j], edit);
		const struct tfs_graph_op *op = &moved;
		double submit = start + held + (edit && edit->at_once ? 0 : op->submit_ns * eased);
		double slot = tfs_replay_state_slot(state, op->stream);
		double begin, after;

		if (slot > submit) {
			held += slot - submit;
			submit = slot;
		}
		after = aside ? tfs_replay_state_own(state, op->stream)
			      : tfs_replay_state_after(state, graph, op->stream);
		begin = tfs_replay_later(
			submit + delay.after_submit_ns, after + delay.after_stream_ns);
		begin = tfs_replay_later(
			begin, tfs_replay_state_engine(state, graph, op) + delay.after_engine_ns);
		tfs_replay_state_push(
			state, graph, op, begin + (op->end_ns - op->start_ns) * scale, aside);
	}
	return held;
}

/* What a call takes the host if it does not wait. */
static double without_wait_ns(const struct tfs_replay *replay, size_t index)
{
	const struct tfs_graph_call *call = &replay->graph->calls[index];

	return tfs_replay_between(
		call->end_ns - call->start_ns, 0, call->ops ? replay->usual_call_ns : TFS_OWN_NS);
}

static double run_call(struct tfs_replay_state *state, const struct tfs_replay *replay,
	const struct tfs_replay_how *how, size_t index, double start, const struct tfs_edit *edit)
{
	const struct tfs_graph_call *call = &replay->graph->calls[index];
	const struct tfs_call_wait *wait = &replay->waits[index];
	const bool own = wait->tail_ns < 0 || call->works || !how->usual;
	const double tail = own ? wait->tail_ns : replay->usual_tail_ns[call->wait];
	const double own_ns = wait->own_ns * (call->ops ? 1 - how->eases : 1);
	double end, target, scale = edit && edit->scale > 0 ? (double)edit->scale : 1;

	if (edit && edit->gone) {
		if (edit->orders && wait->valid)
			tfs_replay_state_fence(state, replay->graph, call);
		return start;
	}
	end = start + (edit && edit->at_once ? 0 : own_ns) +
	      run_ops(state, replay, how, call, start, edit);
	if (edit && edit->orders && wait->valid)
		tfs_replay_state_fence(state, replay->graph, call);
	if (edit && edit->no_wait)
		end += without_wait_ns(replay, index) - own_ns + (double)edit->adds_ns;
	else if (wait->valid) {
		target = tfs_replay_state_target(state, replay->graph, call);
		end = tfs_replay_later(end, target + tail * (tail < 0 ? scale : 1));
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

/* A thread's moment in the replay, with as much of `cut_ns` left out as it did on its own before.
 */
static double sooner(
	const struct tfs_replay_state *state, uint32_t thread, double ns, double *cut_ns)
{
	const double is = tfs_replay_later(ns - *cut_ns, state->host[thread]);

	*cut_ns -= ns > is ? ns - is : 0;
	return is;
}

/* A step begins, or the last one ends; so much of the time until the thread's next call is left
 * out.
 */
static void pass_mark(struct tfs_replay_state *state, const struct tfs_replay *replay,
	const struct tfs_replay_how *how, double *cut_ns, double *out_finish_ns)
{
	const struct tfs_graph *graph = replay->graph;
	const uint32_t thread = graph->main_thread;
	const double measured_ns = graph->marks[state->mark];

	state->host[thread] =
		sooner(state, thread, host_at(state, replay, how, thread, measured_ns), cut_ns);
	state->left[thread] = tfs_replay_later(state->left[thread], measured_ns);
	out_finish_ns[state->mark++] = tfs_replay_later(state->host[thread], state->device);
}

int tfs_replay_run(const struct tfs_replay *replay, const struct tfs_replay_how *how,
	const struct tfs_edit *edits, double *out_finish_ns)
{
	const struct tfs_graph *graph = replay->graph;
	struct tfs_replay_state state;

	if (tfs_replay_state_init(&state, graph, replay->depth))
		return -ENOMEM;
	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];
		double start, cut_ns = edits ? (double)edits[i].cuts_ns : 0;

		while (call->thread == graph->main_thread && state.mark < graph->marks_count &&
			graph->marks[state.mark] <= call->start_ns)
			pass_mark(&state, replay, how, &cut_ns, out_finish_ns);
		start = host_at(&state, replay, how, call->thread, call->start_ns);
		start = sooner(&state, call->thread, start, &cut_ns);
		state.host[call->thread] =
			run_call(&state, replay, how, i, start, edits ? &edits[i] : NULL);
		state.left[call->thread] = call->end_ns;
	}
	while (state.mark < graph->marks_count) {
		double none = 0;

		pass_mark(&state, replay, how, &none, out_finish_ns);
	}
	tfs_replay_state_finish(&state);
	return 0;
}
