/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/hooks/cuda/cuda_driver_copy_shape.h"
#include "shim/hooks/notes.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Graphs built node by node: what a node will do, as far as its parameters tell. */

/* The two kinds of parameters differ in what follows `extra`. */
#define LAUNCH(with, launched)                                                                     \
	&(const struct tfs_launch)                                                                 \
	{                                                                                          \
		.kernel = tfs_kernel_find(launched, TFS_KERNEL_FUNCTION),                          \
		.grid = {(with)->gridDimX, (with)->gridDimY, (with)->gridDimZ},                    \
		.block = {(with)->blockDimX, (with)->blockDimY, (with)->blockDimZ},                \
		.arguments = (with)->kernelParams, .extra = (with)->extra,                         \
		.shared = (with)->sharedMemBytes                                                   \
	}
#define KERNEL(with) ((with)->func ? (const void *)(with)->func : (const void *)(with)->kern)

static void put_node(struct tfs_details *work, const CUgraphNodeParams *with)
{
	switch (with->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		tfs_put_launch(work, LAUNCH(&with->kernel, KERNEL(&with->kernel)));
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		tfs_cuda_put_copy(work, &with->memcpy.copyParams);
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		tfs_put_fill(work, (const void *)(uintptr_t)with->memset.dst, 0);
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		tfs_put_child(work, with->graph.graph);
		break;
	default:
		break;
	}
}

TFS_NODE_HOOK(CUresult, cuGraphAddKernelNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_KERNEL_NODE_PARAMS_v1 *with),
	(out_node, graph, dependencies, count, with),
	tfs_put_launch(&work, LAUNCH(with, with->func)))
TFS_NODE_HOOK(CUresult, cuGraphAddKernelNode_v2,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_KERNEL_NODE_PARAMS_v2 *with),
	(out_node, graph, dependencies, count, with),
	tfs_put_launch(&work, LAUNCH(with, KERNEL(with))))
TFS_NODE_HOOK(CUresult, cuGraphAddMemcpyNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_MEMCPY3D_v2 *with, CUcontext context),
	(out_node, graph, dependencies, count, with, context), tfs_cuda_put_copy(&work, with))
TFS_NODE_HOOK(CUresult, cuGraphAddMemsetNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_MEMSET_NODE_PARAMS_v1 *with, CUcontext context),
	(out_node, graph, dependencies, count, with, context),
	tfs_put_fill(&work, (const void *)(uintptr_t)with->dst, 0))
TFS_NODE_HOOK(CUresult, cuGraphAddChildGraphNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUgraph child),
	(out_node, graph, dependencies, count, child), tfs_put_child(&work, child))
TFS_NODE_HOOK(CUresult, cuGraphAddNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUgraphNodeParams *with),
	(out_node, graph, dependencies, count, with), put_node(&work, with))
TFS_NODE_HOOK(CUresult, cuGraphAddNode_v2,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies,
		const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *with),
	(out_node, graph, dependencies, edges, count, with), put_node(&work, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddHostNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_HOST_NODE_PARAMS_v1 *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddEmptyNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count),
	(out_node, graph, dependencies, count))
TFS_PLAIN_HOOK(CUresult, cuGraphAddEventRecordNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUevent event),
	(out_node, graph, dependencies, count, event))
TFS_PLAIN_HOOK(CUresult, cuGraphAddEventWaitNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUevent event),
	(out_node, graph, dependencies, count, event))
TFS_PLAIN_HOOK(CUresult, cuGraphAddMemAllocNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUDA_MEM_ALLOC_NODE_PARAMS *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddMemFreeNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUdeviceptr out),
	(out_node, graph, dependencies, count, out))
TFS_PLAIN_HOOK(CUresult, cuGraphAddExternalSemaphoresSignalNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddExternalSemaphoresWaitNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddBatchMemOpNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_BATCH_MEM_OP_NODE_PARAMS *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddDependencies,
	(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
	(graph, from, to, count))
TFS_PLAIN_HOOK(CUresult, cuGraphAddDependencies_v2,
	(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
		const CUgraphEdgeData *edges, size_t count),
	(graph, from, to, edges, count))
TFS_PLAIN_HOOK(CUresult, cuGraphRemoveDependencies,
	(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
	(graph, from, to, count))
TFS_PLAIN_HOOK(CUresult, cuGraphRemoveDependencies_v2,
	(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
		const CUgraphEdgeData *edges, size_t count),
	(graph, from, to, edges, count))
TFS_PLAIN_HOOK(CUresult, cuGraphDestroyNode, (CUgraphNode node), (node))
TFS_PLAIN_HOOK(CUresult, cuGraphConditionalHandleCreate,
	(CUgraphConditionalHandle * out, CUgraph graph, CUcontext context, unsigned value,
		unsigned flags),
	(out, graph, context, value, flags))

#define FUNCTIONS(X)                                                                               \
	X(cuGraphAddKernelNode, , , 10000, graph_other)                                            \
	X(cuGraphAddKernelNode, _v2, , 12000, graph_other)                                         \
	X(cuGraphAddMemcpyNode, , , 10000, graph_other)                                            \
	X(cuGraphAddMemsetNode, , , 10000, graph_other)                                            \
	X(cuGraphAddHostNode, , , 10000, graph_other)                                              \
	X(cuGraphAddChildGraphNode, , , 10000, graph_other)                                        \
	X(cuGraphAddEmptyNode, , , 10000, graph_other)                                             \
	X(cuGraphAddEventRecordNode, , , 11010, graph_other)                                       \
	X(cuGraphAddEventWaitNode, , , 11010, graph_other)                                         \
	X(cuGraphAddMemAllocNode, , , 11040, graph_other)                                          \
	X(cuGraphAddMemFreeNode, , , 11040, graph_other)                                           \
	X(cuGraphAddExternalSemaphoresSignalNode, , , 11020, graph_other)                          \
	X(cuGraphAddExternalSemaphoresWaitNode, , , 11020, graph_other)                            \
	X(cuGraphAddBatchMemOpNode, , , 11070, graph_other)                                        \
	X(cuGraphAddNode, , , 12020, graph_other)                                                  \
	X(cuGraphAddNode, _v2, , 12030, graph_other)                                               \
	X(cuGraphAddDependencies, , , 10000, graph_other)                                          \
	X(cuGraphAddDependencies, _v2, , 12030, graph_other)                                       \
	X(cuGraphRemoveDependencies, , , 10000, graph_other)                                       \
	X(cuGraphRemoveDependencies, _v2, , 12030, graph_other)                                    \
	X(cuGraphDestroyNode, , , 10000, graph_other)                                              \
	X(cuGraphConditionalHandleCreate, , , 12030, graph_other)

FUNCTIONS(TFS_DRIVER_ROW)
