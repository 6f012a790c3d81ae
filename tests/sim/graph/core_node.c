/* SPDX-License-Identifier: MIT */
#include "tests/sim/graph/core_graph.h"

#include <stdlib.h>

/* Graphs that a program builds or changes by hand. */

static bool all_in(const struct CUgraph_st *graph, const cudaGraphNode_t *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct CUgraphNode_st *n = graph->first;

		while (n && n != nodes[i])
			n = n->next;
		if (!n)
			return false;
	}
	return true;
}

cudaError_t tfsim_graph_create(cudaGraph_t *out_graph)
{
	cudaError_t error = sim_enter();
	struct CUgraph_st *graph;

	if (error != cudaSuccess)
		return error;
	if (!out_graph)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	graph = sim_graph_create();
	pthread_mutex_unlock(&sim.lock);
	if (!graph)
		return cudaErrorMemoryAllocation;
	*out_graph = graph;
	return cudaSuccess;
}

static cudaError_t add(struct CUgraph_st *graph, const cudaGraphNode_t *deps, size_t count,
	enum cudaGraphNodeType type, struct sim_payload *payload, cudaGraphNode_t *out_node)
{
	if (!sim_graph_known(graph) || !out_node || (count && !deps) || !all_in(graph, deps, count))
		return cudaErrorInvalidValue;
	*out_node = sim_graph_add(graph, type, payload, deps, (unsigned)count);
	return *out_node ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t tfsim_graph_add(cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
	enum cudaGraphNodeType type, const struct tfsim_work *work, cudaGraphNode_t *out_node)
{
	struct sim_payload *payload = work ? sim_payload_create(work) : NULL;
	cudaError_t error = sim_enter();

	if (error == cudaSuccess && work && !payload)
		error = cudaErrorMemoryAllocation;
	pthread_mutex_lock(&sim.lock);
	if (error == cudaSuccess)
		error = add(graph, deps, count, type, payload, out_node);
	pthread_mutex_unlock(&sim.lock);
	sim_payload_unref(payload);
	return error;
}

cudaError_t tfsim_graph_add_child(cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
	cudaGraph_t child, cudaGraphNode_t *out_node)
{
	struct CUgraph_st *copy;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	copy = sim_graph_known(child) ? sim_graph_clone(child) : NULL;
	error = copy ? add(graph, deps, count, cudaGraphNodeTypeGraph, NULL, out_node)
		     : cudaErrorInvalidValue;
	if (error == cudaSuccess)
		(*out_node)->child = copy;
	else if (copy)
		sim_graph_free(copy);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_graph_add_event(cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
	cudaEvent_t event, bool record, cudaGraphNode_t *out_node)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = add(graph, deps, count,
		record ? cudaGraphNodeTypeEventRecord : cudaGraphNodeTypeWaitEvent, NULL, out_node);
	if (error == cudaSuccess)
		(*out_node)->event = event;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

/* Without a list, how many were found; else how many it took, and what is left of it is NULL. */
static size_t obtained(cudaGraphNode_t *nodes, size_t room, size_t found)
{
	for (size_t i = found; nodes && i < room; i++)
		nodes[i] = NULL;
	return nodes && found > room ? room : found;
}

cudaError_t tfsim_graph_nodes(cudaGraph_t graph, bool roots, cudaGraphNode_t *nodes, size_t *count)
{
	cudaError_t error = sim_enter();
	size_t found = 0;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (!sim_graph_known(graph) || !count)
		error = cudaErrorInvalidValue;
	for (struct CUgraphNode_st *n = error == cudaSuccess ? graph->first : NULL; n;
		n = n->next) {
		if (roots && n->dep_count)
			continue;
		if (nodes && found < *count)
			nodes[found] = n;
		found++;
	}
	if (error == cudaSuccess)
		*count = obtained(nodes, *count, found);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_graph_edges(
	cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
	cudaError_t error = sim_enter();
	size_t found = 0;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (!sim_graph_known(graph) || !count)
		error = cudaErrorInvalidValue;
	for (struct CUgraphNode_st *n = error == cudaSuccess ? graph->first : NULL; n; n = n->next)
		for (unsigned i = 0; i < n->dep_count; i++, found++)
			if (from && to && found < *count) {
				from[found] = n->deps[i];
				to[found] = n;
			}
	if (error == cudaSuccess) {
		obtained(from, *count, found);
		*count = obtained(to, *count, found);
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}

static bool depends(const struct CUgraphNode_st *node, const struct CUgraphNode_st *on)
{
	for (unsigned i = 0; i < node->dep_count; i++)
		if (node->deps[i] == on)
			return true;
	return false;
}

/* Whether all edges are of the graph's nodes, and are there, or none is. */
static bool linkable(const struct CUgraph_st *graph, const cudaGraphNode_t *from,
	const cudaGraphNode_t *to, size_t count, bool there)
{
	if (!sim_graph_known(graph) || !all_in(graph, from, count) || !all_in(graph, to, count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (depends(to[i], from[i]) != there)
			return false;
	return true;
}

cudaError_t tfsim_graph_link(
	cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (!linkable(graph, from, to, count, false))
		error = cudaErrorInvalidValue;
	for (size_t i = 0; error == cudaSuccess && i < count; i++)
		if (!sim_node_depend(to[i], from[i]))
			error = cudaErrorMemoryAllocation;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

static void forget(struct CUgraphNode_st *node, const struct CUgraphNode_st *gone)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < node->dep_count; i++)
		if (node->deps[i] != gone)
			node->deps[kept++] = node->deps[i];
	node->dep_count = kept;
}

cudaError_t tfsim_graph_unlink(
	cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (!linkable(graph, from, to, count, true))
		error = cudaErrorInvalidValue;
	for (size_t i = 0; error == cudaSuccess && i < count; i++)
		forget(to[i], from[i]);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_node_destroy(cudaGraphNode_t node)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (sim_node_known(node)) {
		for (struct CUgraphNode_st *n = node->graph->first; n; n = n->next)
			forget(n, node);
		sim_graph_remove(node);
	} else {
		error = cudaErrorInvalidValue;
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_node_type(cudaGraphNode_t node, enum cudaGraphNodeType *out_type)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (sim_node_known(node) && out_type)
		*out_type = node->type;
	else
		error = cudaErrorInvalidValue;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_node_neighbours(
	cudaGraphNode_t node, bool dependents, cudaGraphNode_t *nodes, size_t *count)
{
	cudaError_t error = sim_enter();
	size_t found = 0;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (!sim_node_known(node) || !count)
		error = cudaErrorInvalidValue;
	for (struct CUgraphNode_st *n = error == cudaSuccess ? node->graph->first : NULL; n;
		n = n->next) {
		if (!(dependents ? depends(n, node) : depends(node, n)))
			continue;
		if (nodes && found < *count)
			nodes[found] = n;
		found++;
	}
	if (error == cudaSuccess)
		*count = obtained(nodes, *count, found);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_graph_clone(cudaGraph_t *out_graph, cudaGraph_t graph)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (out_graph && sim_graph_known(graph))
		*out_graph = sim_graph_clone(graph);
	else
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess && !*out_graph)
		error = cudaErrorMemoryAllocation;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_node_in_clone(
	cudaGraphNode_t *out_node, cudaGraphNode_t original, cudaGraph_t clone)
{
	cudaError_t error = sim_enter();
	struct CUgraphNode_st *n = NULL;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (out_node && sim_graph_known(clone))
		for (n = clone->first; n && n->original != original; n = n->next)
			continue;
	if (n)
		*out_node = n;
	else
		error = cudaErrorInvalidValue;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_node_child(cudaGraphNode_t node, cudaGraph_t *out_graph)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (out_graph && sim_node_known(node) && node->child)
		*out_graph = node->child;
	else
		error = cudaErrorInvalidValue;
	pthread_mutex_unlock(&sim.lock);
	return error;
}
