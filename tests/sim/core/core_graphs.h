/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_GRAPHS_H
#define TFS_TESTS_SIM_CORE_GRAPHS_H

/*
 * Graphs built by hand, for the runtime and the driver. What a node does is a struct tfsim_work,
 * made by the tfsim_describe_*() functions exactly as the stream calls make theirs; the caller
 * frees the described work's args. Lists: with nodes NULL the number is returned in count, else up
 * to count are written.
 */

#include "tests/sim/core/core.h"

TFSIM_API cudaError_t tfsim_describe_kernel(struct tfsim_function *function, dim3 grid, dim3 block,
	size_t shared_bytes, void **args, struct tfsim_work *out_work);
TFSIM_API cudaError_t tfsim_describe_memcpy(void *dst, size_t dst_pitch, const void *src,
	size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
	struct tfsim_work *out_work);
TFSIM_API cudaError_t tfsim_describe_memset(void *dst, size_t pitch, uint32_t value,
	unsigned element, size_t width, size_t height, struct tfsim_work *out_work);
TFSIM_API cudaError_t tfsim_describe_host(cudaHostFn_t fn, void *data, struct tfsim_work *out_work);

TFSIM_API cudaError_t tfsim_graph_create(cudaGraph_t *out_graph);
/* work is NULL for an empty node. */
TFSIM_API cudaError_t tfsim_graph_add(cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
	enum cudaGraphNodeType type, const struct tfsim_work *work, cudaGraphNode_t *out_node);
TFSIM_API cudaError_t tfsim_graph_add_child(cudaGraph_t graph, const cudaGraphNode_t *deps,
	size_t count, cudaGraph_t child, cudaGraphNode_t *out_node);
TFSIM_API cudaError_t tfsim_graph_add_event(cudaGraph_t graph, const cudaGraphNode_t *deps,
	size_t count, cudaEvent_t event, bool record, cudaGraphNode_t *out_node);
TFSIM_API cudaError_t tfsim_graph_nodes(
	cudaGraph_t graph, bool roots, cudaGraphNode_t *nodes, size_t *count);
TFSIM_API cudaError_t tfsim_graph_edges(
	cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count);
TFSIM_API cudaError_t tfsim_graph_link(
	cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count);
TFSIM_API cudaError_t tfsim_graph_unlink(
	cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count);
TFSIM_API cudaError_t tfsim_graph_clone(cudaGraph_t *out_graph, cudaGraph_t graph);

TFSIM_API cudaError_t tfsim_node_destroy(cudaGraphNode_t node);
TFSIM_API cudaError_t tfsim_node_type(cudaGraphNode_t node, enum cudaGraphNodeType *out_type);
TFSIM_API cudaError_t tfsim_node_neighbours(
	cudaGraphNode_t node, bool dependents, cudaGraphNode_t *nodes, size_t *count);
TFSIM_API cudaError_t tfsim_node_in_clone(
	cudaGraphNode_t *out_node, cudaGraphNode_t original, cudaGraph_t clone);
TFSIM_API cudaError_t tfsim_node_child(cudaGraphNode_t node, cudaGraph_t *out_graph);
/* Fails when the node is not of that type. */
TFSIM_API cudaError_t tfsim_node_set(
	cudaGraphNode_t node, enum cudaGraphNodeType type, const struct tfsim_work *work);
/* What a kernel node launches; the pointers live as long as the node is not changed. */
TFSIM_API cudaError_t tfsim_node_kernel(cudaGraphNode_t node, struct tfsim_function **out_function,
	dim3 *out_grid, dim3 *out_block, size_t *out_shared, void ***out_args);

TFSIM_API cudaError_t tfsim_exec_set(cudaGraphExec_t exec, cudaGraphNode_t node,
	enum cudaGraphNodeType type, const struct tfsim_work *work);
/* Either pointer may be NULL. */
TFSIM_API cudaError_t tfsim_exec_enable(
	cudaGraphExec_t exec, cudaGraphNode_t node, const bool *set, bool *out_enabled);
TFSIM_API cudaError_t tfsim_exec_update(cudaGraphExec_t exec, cudaGraph_t graph,
	enum cudaGraphExecUpdateResult *out_result, cudaGraphNode_t *out_node);
TFSIM_API cudaError_t tfsim_exec_flags(cudaGraphExec_t exec, unsigned long long *out_flags);

#endif
