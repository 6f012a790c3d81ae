/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REPLAY_REPLAY_H
#define TFS_RULES_REPLAY_REPLAY_H

/*
 * Replays recorded steps as a graph: host threads that work, call and wait; streams that run what
 * they were given in order; events and the legacy stream between them. Replayed unchanged it gives
 * back the measured times; replayed with an edit it says what the step would have taken. The
 * graph knows nothing of rules or recordings: graph.h makes one from a timeline, tests by hand.
 *
 * Times are nanoseconds from the graph's origin. All functions are pure; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_NONE UINT32_MAX

enum tfs_wait {
	TFS_WAIT_NONE,
	TFS_WAIT_DEVICE, /* for everything that was handed to the device */
	TFS_WAIT_STREAM, /* for one stream */
	TFS_WAIT_EVENT,  /* for the latest record of an event */
	TFS_WAIT_OWN     /* for the call's own last operation */
};

enum tfs_action { TFS_ACTION_NONE, TFS_ACTION_RECORD, TFS_ACTION_STREAM_WAIT };

struct tfs_graph_stream {
	bool legacy;   /* waits for all blocking streams and holds them back */
	bool blocking; /* not created non-blocking */
};

/* An operation of a stream; a call's operations follow each other. */
struct tfs_graph_op {
	double start_ns;
	double end_ns;
	double submit_ns; /* after its call's start */
	uint32_t stream;
	uint32_t engine; /* that streams share: one of its operations at a time, but as recorded */
};

struct tfs_graph_call {
	double start_ns;
	double end_ns;
	uint32_t thread;
	uint32_t stream; /* of a stream wait, a record, a wait for a stream; or TFS_NONE */
	uint32_t event;  /* of a record, a wait; or TFS_NONE */
	uint32_t first_op;
	uint32_t ops;
	enum tfs_wait wait;
	enum tfs_action action;
	bool works; /* what it does behind its wait takes time too: releasing memory does */
};

/* `calls` in order of their start; the caller owns all arrays. */
struct tfs_graph {
	struct tfs_graph_call *calls;
	struct tfs_graph_op *ops;
	struct tfs_graph_stream *streams;
	double *busy_ns; /* per stream: end of what it was given before the origin */
	double *marks;   /* starts of the steps, and the end of the last one */
	size_t calls_count;
	size_t ops_count;
	uint32_t stream_count;
	uint32_t engine_count;
	uint32_t event_count;
	uint32_t thread_count;
	uint32_t main_thread; /* the one that makes the steps */
	size_t marks_count;
};

/* What is different at one call. Zeroed = nothing. */
struct tfs_edit {
	bool gone;    /* neither the call nor its operations happen */
	bool no_wait; /* the call does not wait */
	bool orders; /* without its wait, the device orders what came before and what comes after */
	float scale; /* factor on the duration of its operations; 0 = 1 */
	float adds_ns; /* what the host does instead */
	bool aside;    /* its operations wait for no other stream's, nor do others wait for them */
	bool at_once;  /* the call takes the host no time, and gives its work to the device */
	float cuts_ns; /* so much less the thread does on its own right before the call */
};

/* A thread that went on so soon behind another one's call is taken to have waited for that. */
#define TFS_FOLLOWS_NS 100000.0

/* How steps are replayed. Zeroed: what host threads do is in no order. */
struct tfs_replay_how {
	double follows_ns; /* how soon behind another's call a thread must go on to follow it */
	bool usual; /* the median of all delays stands for each: what comes out is no repetition */
	double eases; /* by this part less the host takes in calls that give the device work */
};

/* What the measurement says about the graph's constants; made once for each graph. */
struct tfs_replay;
struct tfs_order;

/* Prepares a graph, which must stay unchanged; NULL without memory. The caller owns the result. */
struct tfs_replay *tfs_replay_create(const struct tfs_graph *graph);
void tfs_replay_destroy(struct tfs_replay *replay);

/* When each step was over, on host and device, as measured: marks_count values. */
void tfs_replay_measured(const struct tfs_replay *replay, double *out_finish_ns);

/* The same, replayed with `edits` (one for each call, or NULL); 0 or -ENOMEM. */
int tfs_replay_run(const struct tfs_replay *replay, const struct tfs_replay_how *how,
	const struct tfs_edit *edits, double *out_finish_ns);

/* How its host threads take turns; lives as long as the replay. */
const struct tfs_order *tfs_replay_order(const struct tfs_replay *replay);

/* The host's own time in the call at this place: what it waited for, or a full queue held it, is
 * not in it. */
double tfs_replay_own_ns(const struct tfs_replay *replay, size_t call);

#endif
