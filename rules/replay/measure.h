/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REPLAY_MEASURE_H
#define TFS_RULES_REPLAY_MEASURE_H

/* What a replay knows of the measurement: what each operation and each call followed from. */

#include "rules/replay/order.h"
#include "rules/replay/replay_state.h"

/* What a call costs the host once there is nothing to wait for, where nothing better is known. */
#define TFS_OWN_NS 2000.0

/* How an operation's start followed from what came before it. */
struct tfs_op_delay {
	double after_submit_ns;
	double after_stream_ns;
	double after_engine_ns; /* negative: it ran beside another stream's */
	bool usable;            /* what it followed is known */
	bool by_host;           /* its call is what it waited for last */
};

struct tfs_call_wait {
	bool valid;  /* the wait is one: the call did not return before its target */
	bool waited; /* and it had something to wait for */
	double own_ns;
	double tail_ns; /* from the target's end to the return; negative: staged copies */
};

struct tfs_replay {
	const struct tfs_graph *graph;
	struct tfs_op_delay *delays;
	struct tfs_call_wait *waits;
	double *measured;
	struct tfs_order *order;
	struct tfs_op_delay *usual; /* medians of the measurement: per engine, and of all others */
	double usual_submit_ns;     /* of operations of any kind */
	double usual_tail_ns[TFS_WAIT_OWN + 1]; /* per kind of wait */
	double usual_call_ns; /* what giving work to the device takes the host, without a wait */
	uint32_t depth;       /* of a stream's queue */
};

static inline double tfs_replay_between(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* Which of the medians are an operation's. */
static inline uint32_t tfs_replay_kind(const struct tfs_graph *graph, const struct tfs_graph_op *op)
{
	return op->engine < graph->engine_count ? op->engine : graph->engine_count;
}

/* Fills in delays, waits, measured marks and medians; 0 or -ENOMEM. The rest is there already. */
int tfs_replay_measure(struct tfs_replay *replay);

#endif
