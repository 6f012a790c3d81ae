/* SPDX-License-Identifier: MIT */
#include "tests/sim/graph/core_graph.h"

#include <stdlib.h>
#include <string.h>

static struct CUgraph_st *graphs;
static uint32_t next_graph_id = 1;
static uint64_t next_node_id = 1;

struct CUgraph_st *sim_graph_create(void)
{
	struct CUgraph_st *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->id = next_graph_id++;
	graph->next = graphs;
	graphs = graph;
	return graph;
}

bool sim_graph_known(const struct CUgraph_st *graph)
{
	for (const struct CUgraph_st *g = graphs; g; g = g->next)
		if (g == graph)
			return true;
	return false;
}

bool sim_node_known(const struct CUgraphNode_st *node)
{
	for (const struct CUgraph_st *g = graphs; g; g = g->next)
		for (const struct CUgraphNode_st *n = g->first; n; n = n->next)
			if (n == node)
				return true;
	return false;
}

static void free_node(struct CUgraphNode_st *node)
{
	sim_payload_unref(node->payload);
	if (node->child)
		sim_graph_free(node->child);
	free(node->deps);
	free(node);
}

/* Nothing may depend on the node any more. */
void sim_graph_remove(struct CUgraphNode_st *node)
{
	struct CUgraph_st *graph = node->graph;
	struct CUgraphNode_st *before = NULL;

	for (struct CUgraphNode_st *n = graph->first; n != node; n = n->next)
		before = n;
	if (before)
		before->next = node->next;
	else
		graph->first = node->next;
	if (graph->last == node)
		graph->last = before;
	graph->count--;
	free_node(node);
}

void sim_graph_free(struct CUgraph_st *graph)
{
	struct CUgraph_st **link = &graphs;

	while (*link && *link != graph)
		link = &(*link)->next;
	if (*link)
		*link = graph->next;
	while (graph->first) {
		struct CUgraphNode_st *node = graph->first;

		graph->first = node->next;
		free_node(node);
	}
	sim_users_free(&graph->users);
	free(graph);
}

bool sim_nodes_set(struct CUgraphNode_st ***nodes, unsigned *count,
	struct CUgraphNode_st *const *from, unsigned from_count)
{
	struct CUgraphNode_st **copy = NULL;

	if (from_count) {
		copy = malloc(from_count * sizeof(*copy));
		if (!copy)
			return false;
		memcpy(copy, from, from_count * sizeof(*copy));
	}
	free(*nodes);
	*nodes = copy;
	*count = from_count;
	return true;
}

struct CUgraphNode_st *sim_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
	struct sim_payload *payload, struct CUgraphNode_st *const *deps, unsigned dep_count)
{
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));

	if (!node || !sim_nodes_set(&node->deps, &node->dep_count, deps, dep_count)) {
		free(node);
		return NULL;
	}
	node->id = next_node_id++;
	node->graph = graph;
	node->type = type;
	node->payload = payload ? sim_payload_ref(payload) : NULL;
	if (graph->last)
		graph->last->next = node;
	else
		graph->first = node;
	graph->last = node;
	graph->count++;
	return node;
}

bool sim_node_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *on)
{
	struct CUgraphNode_st **grown;

	grown = realloc(node->deps, (node->dep_count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	node->deps = grown;
	node->deps[node->dep_count++] = on;
	return true;
}

static bool ready(const struct CUgraphNode_st *node)
{
	for (unsigned i = 0; i < node->dep_count; i++)
		if (!node->deps[i]->mark)
			return false;
	return true;
}

/* Rounds over the list: graphs are built nearly in order, so one or two rounds do. */
bool sim_graph_order(struct CUgraph_st *graph, struct CUgraphNode_st ***out_nodes)
{
	struct CUgraphNode_st **nodes = calloc(graph->count ? graph->count : 1, sizeof(*nodes));
	unsigned placed = 0, before;

	if (!nodes)
		return false;
	for (struct CUgraphNode_st *n = graph->first; n; n = n->next)
		n->mark = false;
	do {
		before = placed;
		for (struct CUgraphNode_st *n = graph->first; n; n = n->next)
			if (!n->mark && ready(n)) {
				n->mark = true;
				n->place = placed;
				nodes[placed++] = n;
			}
	} while (placed != before);
	if (placed != graph->count) {
		free(nodes);
		return false;
	}
	*out_nodes = nodes;
	return true;
}

static bool clone_nodes(const struct CUgraph_st *graph, struct CUgraph_st *copy)
{
	for (struct CUgraphNode_st *n = graph->first; n; n = n->next) {
		struct CUgraphNode_st *twin = sim_graph_add(copy, n->type, n->payload, NULL, 0);

		if (!twin)
			return false;
		twin->original = n;
		twin->event = n->event;
		twin->child = n->child ? sim_graph_clone(n->child) : NULL;
		if (n->child && !twin->child)
			return false;
	}
	return true;
}

static struct CUgraphNode_st *twin_of(
	const struct CUgraph_st *copy, const struct CUgraphNode_st *node)
{
	struct CUgraphNode_st *n = copy->first;

	while (n && n->original != node)
		n = n->next;
	return n;
}

struct CUgraph_st *sim_graph_clone(const struct CUgraph_st *graph)
{
	struct CUgraph_st *copy = sim_graph_create();
	bool ok = copy && sim_users_copy(&copy->users, &graph->users) && clone_nodes(graph, copy);

	for (struct CUgraphNode_st *n = graph->first; ok && n; n = n->next)
		for (unsigned i = 0; ok && i < n->dep_count; i++)
			ok = sim_node_depend(twin_of(copy, n), twin_of(copy, n->deps[i]));
	if (copy && !ok) {
		sim_graph_free(copy);
		return NULL;
	}
	if (copy)
		copy->original = (struct CUgraph_st *)(uintptr_t)graph;
	return copy;
}

cudaError_t tfsim_graph_destroy(cudaGraph_t graph)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (sim_graph_known(graph))
		sim_graph_free(graph);
	else
		error = cudaErrorInvalidValue;
	pthread_mutex_unlock(&sim.lock);
	return error;
}
