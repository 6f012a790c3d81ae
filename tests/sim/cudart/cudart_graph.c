/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#include <stdlib.h>

#include "tests/sim/core/core_graphs.h"

static void release(struct tfsim_work *work)
{
	free((void *)(uintptr_t)work->args);
}

static cudaError_t kernel_work(const struct cudaKernelNodeParams *p, struct tfsim_work *work)
{
	struct tfsim_function *function = p ? cudart_function(p->func) : NULL;

	if (!function)
		return p ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
	if (p->extra)
		return cudaErrorNotSupported;
	return tfsim_describe_kernel(
		function, p->gridDim, p->blockDim, p->sharedMemBytes, p->kernelParams, work);
}

static cudaError_t memset_work(const struct cudaMemsetParams *p, struct tfsim_work *work)
{
	return p ? tfsim_describe_memset(
			   p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, work)
		 : cudaErrorInvalidValue;
}

static cudaError_t memcpy_work(const struct cudaMemcpy3DParms *p, struct tfsim_work *work)
{
	struct cudart_box box;
	cudaError_t error = cudart_flatten(p, &box);

	return error != cudaSuccess ? error
				    : tfsim_describe_memcpy(box.dst, box.dst_pitch, box.src,
					      box.src_pitch, box.width, box.height, p->kind, work);
}

static cudaError_t host_work(const struct cudaHostNodeParams *p, struct tfsim_work *work)
{
	return p ? tfsim_describe_host(p->fn, p->userData, work) : cudaErrorInvalidValue;
}

/* Ends what a description began: error is the description's own result. */
static cudaError_t add(cudaError_t error, cudaGraph_t graph, const cudaGraphNode_t *deps,
	size_t count, enum cudaGraphNodeType type, struct tfsim_work *work, cudaGraphNode_t *node)
{
	if (error != cudaSuccess)
		return error;
	error = tfsim_graph_add(graph, deps, count, type, work, node);
	release(work);
	return error;
}

static cudaError_t change(cudaError_t error, cudaGraphNode_t node, enum cudaGraphNodeType type,
	struct tfsim_work *work)
{
	if (error != cudaSuccess)
		return error;
	error = tfsim_node_set(node, type, work);
	release(work);
	return error;
}

static cudaError_t change_exec(cudaError_t error, cudaGraphExec_t exec, cudaGraphNode_t node,
	enum cudaGraphNodeType type, struct tfsim_work *work)
{
	if (error != cudaSuccess)
		return error;
	error = tfsim_exec_set(exec, node, type, work);
	release(work);
	return error;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, const struct cudaKernelNodeParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphAddKernelNode_v10000, node, graph, deps, count, params);
	return LEAVE(add(kernel_work(params, &work), graph, deps, count, cudaGraphNodeTypeKernel,
		&work, node));
}

cudaError_t cudaGraphKernelNodeSetParams(
	cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphKernelNodeSetParams_v10000, node, params);
	return LEAVE(change(kernel_work(params, &work), node, cudaGraphNodeTypeKernel, &work));
}

cudaError_t cudaGraphExecKernelNodeSetParams(
	cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphExecKernelNodeSetParams_v10010, exec, node, params);
	return LEAVE(change_exec(
		kernel_work(params, &work), exec, node, cudaGraphNodeTypeKernel, &work));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
	struct tfsim_function *function = NULL;
	cudaError_t error = cudaErrorInvalidValue;
	size_t shared = 0;
	ENTER(cudaGraphKernelNodeGetParams_v10000, node, params);

	if (params)
		error = tfsim_node_kernel(node, &function, &params->gridDim, &params->blockDim,
			&shared, &params->kernelParams);
	if (error == cudaSuccess) {
		params->func = function;
		params->sharedMemBytes = (unsigned)shared;
		params->extra = NULL;
	}
	return LEAVE(error);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, const struct cudaMemcpy3DParms *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphAddMemcpyNode_v10000, node, graph, deps, count, params);
	return LEAVE(add(memcpy_work(params, &work), graph, deps, count, cudaGraphNodeTypeMemcpy,
		&work, node));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, void *dst, const void *src, size_t bytes,
	enum cudaMemcpyKind kind)
{
	struct tfsim_work work;
	ENTER(cudaGraphAddMemcpyNode1D_v11010, node, graph, deps, count, dst, src, bytes, kind);
	return LEAVE(add(tfsim_describe_memcpy(dst, bytes, src, bytes, bytes, 1, kind, &work),
		graph, deps, count, cudaGraphNodeTypeMemcpy, &work, node));
}

cudaError_t cudaGraphMemcpyNodeSetParams(
	cudaGraphNode_t node, const struct cudaMemcpy3DParms *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphMemcpyNodeSetParams_v10000, node, params);
	return LEAVE(change(memcpy_work(params, &work), node, cudaGraphNodeTypeMemcpy, &work));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(
	cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphExecMemcpyNodeSetParams_v10020, exec, node, params);
	return LEAVE(change_exec(
		memcpy_work(params, &work), exec, node, cudaGraphNodeTypeMemcpy, &work));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
	void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	struct tfsim_work work;
	ENTER(cudaGraphExecMemcpyNodeSetParams1D_v11010, exec, node, dst, src, bytes, kind);
	return LEAVE(
		change_exec(tfsim_describe_memcpy(dst, bytes, src, bytes, bytes, 1, kind, &work),
			exec, node, cudaGraphNodeTypeMemcpy, &work));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, const struct cudaMemsetParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphAddMemsetNode_v10000, node, graph, deps, count, params);
	return LEAVE(add(memset_work(params, &work), graph, deps, count, cudaGraphNodeTypeMemset,
		&work, node));
}

cudaError_t cudaGraphMemsetNodeSetParams(
	cudaGraphNode_t node, const struct cudaMemsetParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphMemsetNodeSetParams_v10000, node, params);
	return LEAVE(change(memset_work(params, &work), node, cudaGraphNodeTypeMemset, &work));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(
	cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphExecMemsetNodeSetParams_v10020, exec, node, params);
	return LEAVE(change_exec(
		memset_work(params, &work), exec, node, cudaGraphNodeTypeMemset, &work));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, const struct cudaHostNodeParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphAddHostNode_v10000, node, graph, deps, count, params);
	return LEAVE(add(
		host_work(params, &work), graph, deps, count, cudaGraphNodeTypeHost, &work, node));
}

cudaError_t cudaGraphHostNodeSetParams(
	cudaGraphNode_t node, const struct cudaHostNodeParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphHostNodeSetParams_v10000, node, params);
	return LEAVE(change(host_work(params, &work), node, cudaGraphNodeTypeHost, &work));
}

cudaError_t cudaGraphExecHostNodeSetParams(
	cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params)
{
	struct tfsim_work work;
	ENTER(cudaGraphExecHostNodeSetParams_v10020, exec, node, params);
	return LEAVE(
		change_exec(host_work(params, &work), exec, node, cudaGraphNodeTypeHost, &work));
}

cudaError_t cudaGraphAddEmptyNode(
	cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count)
{
	ENTER(cudaGraphAddEmptyNode_v10000, node, graph, deps, count);
	return LEAVE(tfsim_graph_add(graph, deps, count, cudaGraphNodeTypeEmpty, NULL, node));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, cudaGraph_t child)
{
	ENTER(cudaGraphAddChildGraphNode_v10000, node, graph, deps, count, child);
	return LEAVE(tfsim_graph_add_child(graph, deps, count, child, node));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, cudaEvent_t event)
{
	ENTER(cudaGraphAddEventRecordNode_v11010, node, graph, deps, count, event);
	return LEAVE(event ? tfsim_graph_add_event(graph, deps, count, event, true, node)
			   : cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *deps, size_t count, cudaEvent_t event)
{
	ENTER(cudaGraphAddEventWaitNode_v11010, node, graph, deps, count, event);
	return LEAVE(event ? tfsim_graph_add_event(graph, deps, count, event, false, node)
			   : cudaErrorInvalidValue);
}
