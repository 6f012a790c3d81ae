/* SPDX-License-Identifier: MIT */
#include <driver_types.h>

#include "shim/hooks/notes.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/*
 * Graphs built node by node: what a node will do, as far as its parameters tell. The other ways to
 * add one (to a symbol, an event, memory of its own) show only when it is launched, as does
 * cudaGraphAddNode(), whose parameters differ between CUDA 12 and 13.
 */

static void put_kernel(struct tfs_details *work, const struct cudaKernelNodeParams *with)
{
	const struct tfs_launch launch = {.kernel = tfs_kernel_find(with->func, TFS_KERNEL_SYMBOL),
		.grid = {with->gridDim.x, with->gridDim.y, with->gridDim.z},
		.block = {with->blockDim.x, with->blockDim.y, with->blockDim.z},
		.arguments = with->kernelParams,
		.extra = with->extra,
		.shared = with->sharedMemBytes};

	tfs_put_launch(work, &launch);
}

static const void *start_of(
	const void *array, const struct cudaPitchedPtr *rows, const struct cudaPos *at)
{
	if (array || !rows->ptr)
		return NULL;
	return (const char *)rows->ptr + (at->z * rows->ysize + at->y) * rows->pitch + at->x;
}

static void put_copy(struct tfs_details *work, const struct cudaMemcpy3DParms *copy)
{
	const struct cudaExtent *extent = &copy->extent;

	tfs_put_copy(work, start_of(copy->dstArray, &copy->dstPtr, &copy->dstPos),
		start_of(copy->srcArray, &copy->srcPtr, &copy->srcPos),
		extent->width * extent->height * extent->depth, copy->kind);
}

TFS_NODE_HOOK(cudaError_t, cudaGraphAddKernelNode,
	(void **out, void *graph, const void *dependencies, size_t count,
		const struct cudaKernelNodeParams *with),
	(out, graph, dependencies, count, with), put_kernel(&work, with))
TFS_NODE_HOOK(cudaError_t, cudaGraphAddMemcpyNode,
	(void **out, void *graph, const void *dependencies, size_t count,
		const struct cudaMemcpy3DParms *copy),
	(out, graph, dependencies, count, copy), put_copy(&work, copy))
TFS_NODE_HOOK(cudaError_t, cudaGraphAddMemcpyNode1D,
	(void **out, void *graph, const void *dependencies, size_t count, void *target,
		const void *source, size_t bytes, enum cudaMemcpyKind kind),
	(out, graph, dependencies, count, target, source, bytes, kind),
	tfs_put_copy(&work, target, source, bytes, (int)kind))
TFS_NODE_HOOK(cudaError_t, cudaGraphAddMemsetNode,
	(void **out, void *graph, const void *dependencies, size_t count,
		const struct cudaMemsetParams *with),
	(out, graph, dependencies, count, with), tfs_put_fill(&work, with->dst, 0))
TFS_NODE_HOOK(cudaError_t, cudaGraphAddChildGraphNode,
	(void **out, void *graph, const void *dependencies, size_t count, void *child),
	(out, graph, dependencies, count, child), tfs_put_child(&work, child))

#define FUNCTIONS(X)                                                                               \
	X(cudaGraphAddKernelNode, graph_other)                                                     \
	X(cudaGraphAddMemcpyNode, graph_other)                                                     \
	X(cudaGraphAddMemcpyNode1D, graph_other)                                                   \
	X(cudaGraphAddMemsetNode, graph_other)                                                     \
	X(cudaGraphAddChildGraphNode, graph_other)

FUNCTIONS(TFS_FUNCTION_ROW)
