/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Changes to the nodes of a graph, and of an executable one. */

TFS_PLAIN_HOOK(CUresult, cuGraphKernelNodeSetParams,
	(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphKernelNodeSetParams_v2,
	(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphMemcpyNodeSetParams,
	(CUgraphNode node, const CUDA_MEMCPY3D_v2 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphMemsetNodeSetParams,
	(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS_v1 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphHostNodeSetParams,
	(CUgraphNode node, const CUDA_HOST_NODE_PARAMS_v1 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExternalSemaphoresSignalNodeSetParams,
	(CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExternalSemaphoresWaitNodeSetParams,
	(CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphBatchMemOpNodeSetParams,
	(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *with), (node, with))
TFS_PLAIN_HOOK(
	CUresult, cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
TFS_PLAIN_HOOK(
	CUresult, cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
TFS_PLAIN_HOOK(
	CUresult, cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *with), (node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecKernelNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *with),
	(executable, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecKernelNodeSetParams_v2,
	(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *with),
	(executable, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecMemcpyNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D_v2 *with, CUcontext context),
	(executable, node, with, context))
TFS_PLAIN_HOOK(CUresult, cuGraphExecMemsetNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS_v1 *with,
		CUcontext context),
	(executable, node, with, context))
TFS_PLAIN_HOOK(CUresult, cuGraphExecHostNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, const CUDA_HOST_NODE_PARAMS_v1 *with),
	(executable, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecChildGraphNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, CUgraph child), (executable, node, child))
TFS_PLAIN_HOOK(CUresult, cuGraphExecExternalSemaphoresSignalNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *with),
	(executable, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecExternalSemaphoresWaitNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *with),
	(executable, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecBatchMemOpNodeSetParams,
	(CUgraphExec graph_exec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *with),
	(graph_exec, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphExecEventRecordNodeSetEvent,
	(CUgraphExec executable, CUgraphNode node, CUevent event), (executable, node, event))
TFS_PLAIN_HOOK(CUresult, cuGraphExecEventWaitNodeSetEvent,
	(CUgraphExec executable, CUgraphNode node, CUevent event), (executable, node, event))
TFS_PLAIN_HOOK(CUresult, cuGraphExecNodeSetParams,
	(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams *with),
	(executable, node, with))
TFS_PLAIN_HOOK(CUresult, cuGraphNodeSetEnabled,
	(CUgraphExec executable, CUgraphNode node, unsigned enabled), (executable, node, enabled))

#define FUNCTIONS(X)                                                                               \
	X(cuGraphKernelNodeSetParams, , , 10000, graph_other)                                      \
	X(cuGraphKernelNodeSetParams, _v2, , 12000, graph_other)                                   \
	X(cuGraphMemcpyNodeSetParams, , , 10000, graph_other)                                      \
	X(cuGraphMemsetNodeSetParams, , , 10000, graph_other)                                      \
	X(cuGraphHostNodeSetParams, , , 10000, graph_other)                                        \
	X(cuGraphExternalSemaphoresSignalNodeSetParams, , , 11020, graph_other)                    \
	X(cuGraphExternalSemaphoresWaitNodeSetParams, , , 11020, graph_other)                      \
	X(cuGraphBatchMemOpNodeSetParams, , , 11070, graph_other)                                  \
	X(cuGraphEventRecordNodeSetEvent, , , 11010, graph_other)                                  \
	X(cuGraphEventWaitNodeSetEvent, , , 11010, graph_other)                                    \
	X(cuGraphNodeSetParams, , , 12020, graph_other)                                            \
	X(cuGraphExecKernelNodeSetParams, , , 10010, graph_other)                                  \
	X(cuGraphExecKernelNodeSetParams, _v2, , 12000, graph_other)                               \
	X(cuGraphExecMemcpyNodeSetParams, , , 10020, graph_other)                                  \
	X(cuGraphExecMemsetNodeSetParams, , , 10020, graph_other)                                  \
	X(cuGraphExecHostNodeSetParams, , , 10020, graph_other)                                    \
	X(cuGraphExecChildGraphNodeSetParams, , , 11010, graph_other)                              \
	X(cuGraphExecExternalSemaphoresSignalNodeSetParams, , , 11020, graph_other)                \
	X(cuGraphExecExternalSemaphoresWaitNodeSetParams, , , 11020, graph_other)                  \
	X(cuGraphExecBatchMemOpNodeSetParams, , , 11070, graph_other)                              \
	X(cuGraphExecEventRecordNodeSetEvent, , , 11010, graph_other)                              \
	X(cuGraphExecEventWaitNodeSetEvent, , , 11010, graph_other)                                \
	X(cuGraphExecNodeSetParams, , , 12020, graph_other)                                        \
	X(cuGraphNodeSetEnabled, , , 11060, graph_other)

FUNCTIONS(TFS_DRIVER_ROW)
