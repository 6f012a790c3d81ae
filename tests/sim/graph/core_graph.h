/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_GRAPH_H
#define TFS_TESTS_SIM_CORE_GRAPH_H

/*
 * Graphs, captures and what an instantiated graph launches. A graph owns its nodes. A plan is the
 * flat list an executable graph runs; launches share it, and an update replaces it, so that
 * launches already under way keep what they started with. The lock is held for all of these.
 */

#include "tests/sim/core/core_graphs.h"
#include "tests/sim/core/core_private.h"

/* What lives for as long as any graph that refers to it, or a launch of one. */
struct CUuserObject_st {
	unsigned refs;
	void *data;
	void (*destroy)(void *data);
};

struct sim_users {
	struct CUuserObject_st **list;
	unsigned count;
};

struct CUgraphNode_st {
	uint64_t id;
	struct CUgraph_st *graph;
	enum cudaGraphNodeType type;
	struct sim_payload *payload; /* NULL for child graphs */
	struct CUgraph_st *child;
	struct CUevent_st *event;
	struct CUgraphNode_st **deps;
	unsigned dep_count;
	struct CUgraphNode_st *original; /* what a clone came from */
	bool mark;
	unsigned place;
	struct CUgraphNode_st *next;
};

struct CUgraph_st {
	uint32_t id;
	struct CUgraphNode_st *first, *last;
	unsigned count;
	struct sim_users users;
	struct CUgraph_st *next;
	struct CUgraph_st *original;
};

struct sim_step {
	struct sim_payload *payload;
	struct CUgraphNode_st *node; /* identity only: the graph may be gone */
	uint64_t node_id;
	enum cudaGraphNodeType type;
	struct CUevent_st *event;
	bool disabled;
	unsigned *deps;
	unsigned dep_count;
	uint64_t offset_ns;
};

struct sim_plan {
	unsigned refs;
	struct sim_step *steps;
	unsigned count;
	struct sim_users users; /* of child graphs too */
	uint64_t cost_ns;
};

struct CUgraphExec_st {
	uint32_t id;
	unsigned long long flags;
	struct sim_plan *plan;
	struct CUgraphExec_st *next;
};

/* Kept for ever: events remember the capture they were recorded in. */
struct sim_capture {
	uint64_t id;
	enum cudaStreamCaptureMode mode;
	pthread_t thread;
	struct CUstream_st *origin;
	struct CUgraph_st *graph;
	bool borrowed; /* the graph is the program's: BeginCaptureToGraph */
	bool invalid, ended;
	struct sim_capture *next;
};

/* False: no memory. */
bool sim_users_copy(struct sim_users *users, const struct sim_users *from);
void sim_users_free(struct sim_users *users);
struct CUgraph_st *sim_graph_create(void);
bool sim_graph_known(const struct CUgraph_st *graph);
void sim_graph_free(struct CUgraph_st *graph);
/* Takes a reference to the payload. */
struct CUgraphNode_st *sim_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
	struct sim_payload *payload, struct CUgraphNode_st *const *deps, unsigned dep_count);
void sim_graph_remove(struct CUgraphNode_st *node);
bool sim_node_known(const struct CUgraphNode_st *node);
bool sim_node_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *on);
struct CUgraph_st *sim_graph_clone(const struct CUgraph_st *graph);
/* Marks in place each node's position in dependency order; false when there is a cycle. */
bool sim_graph_order(struct CUgraph_st *graph, struct CUgraphNode_st ***out_nodes);

struct sim_plan *sim_plan_create(struct CUgraph_st *graph);
/* A graph with the plan's steps, for a launch inside a capture. */
struct CUgraph_st *sim_plan_graph(const struct sim_plan *plan);
struct sim_plan *sim_plan_copy(const struct sim_plan *plan);
void sim_plan_time(struct sim_plan *plan);
void sim_plan_unref(struct sim_plan *plan);
struct CUgraphExec_st *sim_exec_check(cudaGraphExec_t exec);
/* The step of a node in a plan of its own that may be changed; NULL when it is not there. */
struct sim_step *sim_exec_step(struct CUgraphExec_st *exec, const struct CUgraphNode_st *node);

cudaError_t sim_capture_start(
	struct CUstream_st *stream, enum cudaStreamCaptureMode mode, struct CUgraph_st *into);
/* The capture that makes this (legacy) stream unusable, or NULL. */
struct sim_capture *sim_capture_blocking(const struct CUstream_st *stream);
/* Adds the event's nodes to those that the stream's next node depends on. */
cudaError_t sim_capture_join(struct CUstream_st *stream, const struct CUevent_st *event);
bool sim_nodes_set(struct CUgraphNode_st ***nodes, unsigned *count,
	struct CUgraphNode_st *const *from, unsigned from_count);

#endif
