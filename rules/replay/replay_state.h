/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REPLAY_REPLAY_STATE_H
#define TFS_RULES_REPLAY_REPLAY_STATE_H

/*
 * Where host threads, streams and events stand while the calls of a graph go by, measured or
 * replayed. Times are nanoseconds from the graph's origin. A state belongs to one thread.
 */

#include "rules/replay/replay.h"

/* The device's and the threads' state while calls go by. */
struct tfs_replay_state {
	double *ready;   /* per stream: end of its last operation */
	double *floor;   /* per stream: no operation before this (stream waits) */
	double *event;   /* per event: when its latest record is reached */
	double *host;    /* per thread: now */
	double *left;    /* per thread: measured end of its latest call */
	double *engine;  /* per engine: end of its operations */
	double *queue;   /* per stream: ends of the operations that it has room for */
	uint32_t *given; /* per stream: operations so far */
	uint32_t depth;  /* operations that a stream has room for */
	double legacy;   /* end of the legacy stream's last operation */
	double blocking; /* end of all blocking streams' operations */
	double device;   /* end of everything */
	uint32_t latest; /* the stream that was given the latest operation; or TFS_NONE */
	size_t mark;     /* the next one that the calls have not come to */
};

static inline double tfs_replay_later(double a, double b)
{
	return a > b ? a : b;
}

/* Everything at the origin, streams busy with what they were given before; 0 or -ENOMEM. The
 * caller finishes it. */
int tfs_replay_state_init(
	struct tfs_replay_state *state, const struct tfs_graph *graph, uint32_t depth);
void tfs_replay_state_finish(struct tfs_replay_state *state);

/* The end of what a new operation of this stream must follow. */
double tfs_replay_state_after(
	const struct tfs_replay_state *state, const struct tfs_graph *graph, uint32_t stream);
/* The same of the stream's own operations and of events alone. */
double tfs_replay_state_own(const struct tfs_replay_state *state, uint32_t stream);

/* The next operation of its stream ends at `end`; aside: no other stream waits for it. */
void tfs_replay_state_push(struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_op *op, double end, bool aside);
/* The end of what the operation's engine was given; 0 where it has none. */
double tfs_replay_state_engine(const struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_op *op);

/* When a slot of a full queue was free again; 0 where the queue is not full. */
double tfs_replay_state_slot(const struct tfs_replay_state *state, uint32_t stream);

/* When that is over which the call waits for; 0 when it waits for nothing. */
double tfs_replay_state_target(const struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_call *call);

/* No operation that is given from now on starts before what the call waits for is over. */
void tfs_replay_state_fence(struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_call *call);

/* What the call does to events and between streams. */
void tfs_replay_state_act(struct tfs_replay_state *state, const struct tfs_graph *graph,
	const struct tfs_graph_call *call);

#endif
