/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#include <string.h>

#include "tests/sim/core/core_graphs.h"

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
	ENTER(cudaGraphCreate_v10000, graph, flags);
	return LEAVE(flags ? cudaErrorInvalidValue : tfsim_graph_create(graph));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	ENTER(cudaGraphDestroy_v10000, graph);
	return LEAVE(tfsim_graph_destroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	ENTER(cudaGraphClone_v10000, clone, graph);
	return LEAVE(tfsim_graph_clone(clone, graph));
}

cudaError_t cudaGraphNodeFindInClone(
	cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone)
{
	ENTER(cudaGraphNodeFindInClone_v10000, node, original, clone);
	return LEAVE(tfsim_node_in_clone(node, original, clone));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	ENTER(cudaGraphNodeGetType_v10000, node, type);
	return LEAVE(tfsim_node_type(node, type));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	ENTER(cudaGraphGetNodes_v10000, graph, nodes, count);
	return LEAVE(tfsim_graph_nodes(graph, false, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	ENTER(cudaGraphGetRootNodes_v10000, graph, nodes, count);
	return LEAVE(tfsim_graph_nodes(graph, true, nodes, count));
}

/* No edge here has data: it is all zero. */
static cudaError_t plain(cudaError_t error, cudaGraphEdgeData *edges, const size_t *count)
{
	if (error == cudaSuccess && edges)
		memset(edges, 0, *count * sizeof(*edges));
	return error;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
	cudaGraphEdgeData *edges, size_t *count)
{
	ENTER(cudaGraphGetEdges_v12030, graph, from, to, edges, count);
	return LEAVE(plain(tfsim_graph_edges(graph, from, to, count), edges, count));
}

cudaError_t cudaGraphNodeGetDependencies(
	cudaGraphNode_t node, cudaGraphNode_t *deps, cudaGraphEdgeData *edges, size_t *count)
{
	ENTER(cudaGraphNodeGetDependencies_v12030, node, deps, edges, count);
	return LEAVE(plain(tfsim_node_neighbours(node, false, deps, count), edges, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(
	cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count)
{
	ENTER(cudaGraphNodeGetDependentNodes_v12030, node, nodes, edges, count);
	return LEAVE(plain(tfsim_node_neighbours(node, true, nodes, count), edges, count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
	const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count)
{
	ENTER(cudaGraphAddDependencies_v12030, graph, from, to, edges, count);
	return LEAVE(tfsim_graph_link(graph, from, to, count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
	const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count)
{
	ENTER(cudaGraphRemoveDependencies_v12030, graph, from, to, edges, count);
	return LEAVE(tfsim_graph_unlink(graph, from, to, count));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
	ENTER(cudaGraphDestroyNode_v10000, node);
	return LEAVE(tfsim_node_destroy(node));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
	ENTER(cudaGraphChildGraphNodeGetGraph_v10000, node, graph);
	return LEAVE(tfsim_node_child(node, graph));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	ENTER(cudaGraphInstantiate_v12000, exec, graph, flags);
	return LEAVE(tfsim_graph_instantiate(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(
	cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	ENTER(cudaGraphInstantiateWithFlags_v11040, exec, graph, flags);
	return LEAVE(tfsim_graph_instantiate(exec, graph, flags));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	ENTER(cudaGraphExecDestroy_v10000, exec);
	return LEAVE(tfsim_graph_exec_destroy(exec));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
	ENTER(cudaGraphExecGetFlags_v12000, exec, flags);
	return LEAVE(tfsim_exec_flags(exec, flags));
}

cudaError_t cudaGraphExecUpdate(
	cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
	cudaGraphExecUpdateResultInfo unwanted;
	cudaGraphExecUpdateResultInfo *out = info ? info : &unwanted;
	ENTER(cudaGraphExecUpdate_v10020, exec, graph, info);

	out->errorFromNode = NULL;
	return LEAVE(tfsim_exec_update(exec, graph, &out->result, &out->errorNode));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
	bool set = enabled != 0;
	ENTER(cudaGraphNodeSetEnabled_v11060, exec, node, enabled);
	return LEAVE(tfsim_exec_enable(exec, node, &set, NULL));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
	cudaError_t error = cudaErrorInvalidValue;
	bool is = false;
	ENTER(cudaGraphNodeGetEnabled_v11060, exec, node, enabled);

	if (enabled)
		error = tfsim_exec_enable(exec, node, NULL, &is);
	if (error == cudaSuccess)
		*enabled = is;
	return LEAVE(error);
}
