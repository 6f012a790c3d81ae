/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Graphs built node by node. What they do shows when they are launched. */

TFS_PLAIN_HOOK(CUresult, cuGraphAddKernelNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_KERNEL_NODE_PARAMS_v1 *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddKernelNode_v2,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_KERNEL_NODE_PARAMS_v2 *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddMemcpyNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_MEMCPY3D_v2 *with, CUcontext context),
	(out_node, graph, dependencies, count, with, context))
TFS_PLAIN_HOOK(CUresult, cuGraphAddMemsetNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_MEMSET_NODE_PARAMS_v1 *with, CUcontext context),
	(out_node, graph, dependencies, count, with, context))
TFS_PLAIN_HOOK(CUresult, cuGraphAddHostNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		const CUDA_HOST_NODE_PARAMS_v1 *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddChildGraphNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUgraph child),
	(out_node, graph, dependencies, count, child))
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
TFS_PLAIN_HOOK(CUresult, cuGraphAddNode,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
		CUgraphNodeParams *with),
	(out_node, graph, dependencies, count, with))
TFS_PLAIN_HOOK(CUresult, cuGraphAddNode_v2,
	(CUgraphNode * out_node, CUgraph graph, const CUgraphNode *dependencies,
		const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *with),
	(out_node, graph, dependencies, edges, count, with))
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
TFS_PLAIN_HOOK(CUresult, cuGraphClone, (CUgraph * out, CUgraph graph), (out, graph))
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
	X(cuGraphClone, , , 10000, graph_other)                                                    \
	X(cuGraphDestroyNode, , , 10000, graph_other)                                              \
	X(cuGraphConditionalHandleCreate, , , 12030, graph_other)

FUNCTIONS(TFS_DRIVER_ROW)
