/* SPDX-License-Identifier: MIT */
#include "rules/replay/replay_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tfs_replay_state_finish(struct tfs_replay_state *state)
{
	free(state->ready);
	free(state->given);
	memset(state, 0, sizeof(*state));
}

static void finished(
	struct tfs_replay_state *state, const struct tfs_graph_stream *stream, double end)
{
	if (stream->legacy)
		state->legacy = tfs_replay_later(state->legacy, end);
	if (stream->blocking || stream->legacy)
		state->blocking = tfs_replay_later(state->blocking, end);
	state->device = tfs_replay_later(state->device, end);
}

int tfs_replay_state_init(
	struct tfs_replay_state *state, const struct tfs_graph *graph, uint32_t depth)
{
	size_t streams = graph->stream_count, threads = graph->thread_count;
	size_t numbers = streams * (2 + (size_t)depth) + graph->event_count + threads * 2 +
			 graph->engine_count;

	memset(state, 0, sizeof(*state));
	state->depth = depth;
	state->latest = TFS_NONE;
	state->ready = calloc(numbers + 1, sizeof(double));
	state->given = calloc(streams + 1, sizeof(uint32_t));
	if (!state->ready || !state->given) {
		tfs_replay_state_finish(state);
		return -ENOMEM;
	}
	state->floor = state->ready + streams;
	state->event = state->floor + streams;
	state->host = state->event + graph->event_count;
	state->left = state->host + threads;
	state->engine = state->left + threads;
	state->queue = state->engine + graph->engine_count;
	for (size_t i = 0; i < streams && graph->busy_ns; i++) {
		state->ready[i] = graph->busy_ns[i];
		finished(state, &graph->streams[i], graph->busy_ns[i]);
	}
	return 0;
}

double tfs_replay_state_own(const struct tfs_replay_state *state, uint32_t stream)
{
	return tfs_replay_later(state->ready[stream], state->floor[stream]);
}

double tfs_replay_state_after(
	const struct tfs_replay_state *state, const struct tfs_graph *graph, uint32_t stream)
{
	const struct tfs_graph_stream *kind = &graph->streams[stream];
	double after = tfs_replay_state_own(state, stream);

	if (kind->legacy)
		return tfs_replay_later(after, state->blocking);
	return kind->blocking ? tfs_replay_later(after, state->legacy) : after;
}

double tfs_replay_state_engine(const struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_op *op)
{
	return op->engine < graph->engine_count ? state->engine[op->engine] : 0;
}

void tfs_replay_state_push(struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_op *op, double end, bool aside)
{
	static const struct tfs_graph_stream alone;
	const uint32_t stream = op->stream;

	if (op->engine < graph->engine_count)
		state->engine[op->engine] = tfs_replay_later(state->engine[op->engine], end);
	state->latest = stream;
	state->ready[stream] = end;
	state->queue[(size_t)stream * state->depth + state->given[stream]++ % state->depth] = end;
	finished(state, aside ? &alone : &graph->streams[stream], end);
}

double tfs_replay_state_slot(const struct tfs_replay_state *state, uint32_t stream)
{
	if (state->given[stream] < state->depth)
		return 0;
	return state->queue[(size_t)stream * state->depth + state->given[stream] % state->depth];
}

double tfs_replay_state_target(const struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_call *call)
{
	switch (call->wait) {
	case TFS_WAIT_DEVICE:
		return state->device;
	case TFS_WAIT_STREAM:
		return call->stream < graph->stream_count
			       ? tfs_replay_state_after(state, graph, call->stream)
			       : state->device;
	case TFS_WAIT_EVENT:
		return call->event < graph->event_count ? state->event[call->event] : 0;
	case TFS_WAIT_OWN:
		return call->ops ? state->ready[graph->ops[call->first_op + call->ops - 1].stream]
				 : 0;
	case TFS_WAIT_NONE:
		break;
	}
	return 0;
}

void tfs_replay_state_fence(struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_call *call)
{
	const double target = tfs_replay_state_target(state, graph, call);

	for (uint32_t i = 0; i < graph->stream_count; i++)
		state->floor[i] = tfs_replay_later(state->floor[i], target);
}

void tfs_replay_state_act(struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_call *call)
{
	bool event = call->event < graph->event_count, stream = call->stream < graph->stream_count;

	/* Without a stream they are of all of them: a context's. */
	if (call->action == TFS_ACTION_RECORD && event)
		state->event[call->event] =
			stream ? tfs_replay_state_after(state, graph, call->stream) : state->device;
	if (call->action != TFS_ACTION_STREAM_WAIT || !event)
		return;
	for (uint32_t i = stream ? call->stream : 0;
		i < (stream ? call->stream + 1 : graph->stream_count); i++)
		state->floor[i] = tfs_replay_later(state->floor[i], state->event[call->event]);
}
