/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cudart/cudart.h"

#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Copies of three dimensions and between devices. */

/* Where one side of a copy begins; an array has no address. */
static const void *start_of(
	cudaArray_const_t array, const struct cudaPitchedPtr *rows, const struct cudaPos *at)
{
	if (array || !rows->ptr)
		return NULL;
	return (const char *)rows->ptr + (at->z * rows->ysize + at->y) * rows->pitch + at->x;
}

/* Where an array takes part, widths are in its elements. */
static size_t bytes_of(
	const struct cudaExtent *extent, cudaArray_const_t target, cudaArray_const_t source)
{
	const size_t elements = extent->width * extent->height * extent->depth;

	if (!target && !source)
		return elements;
	return elements * tfs_cudart_element(target ? target : source);
}

#define BYTES(copy) bytes_of(&(copy)->extent, (copy)->dstArray, (copy)->srcArray)
#define TARGET(copy) start_of((copy)->dstArray, &(copy)->dstPtr, &(copy)->dstPos)
#define SOURCE(copy) start_of((copy)->srcArray, &(copy)->srcPtr, &(copy)->srcPos)

/* What one side reaches over, of a copy of so many bytes. */
static struct tfs_reach rows_of(const void *first, const struct cudaPitchedPtr *rows,
	const struct cudaExtent *extent, size_t bytes)
{
	const size_t layers = extent->height * extent->depth;

	if (!first || layers == 0)
		return (struct tfs_reach){first, bytes};
	return tfs_reach_of(first, rows->pitch, bytes / layers,
		(extent->depth - 1) * rows->ysize + extent->height);
}

/* The runtime has read `copy` when it succeeds. */
#define COPY(name, suffix, parameters, arguments, kind, queue)                                     \
	TFS_TWIN_HOOKS(cudaError_t, name, suffix, parameters, arguments)                           \
	{                                                                                          \
		if (copy && tfs_blocks_any())                                                      \
			tfs_blocks_given(TARGET(copy), SOURCE(copy));                              \
		const cudaError_t status = TFS_TWIN_REAL(name) arguments;                          \
		const size_t bytes = status == cudaSuccess && frame.thread ? BYTES(copy) : 0;      \
                                                                                                   \
		if (TFS_END(&frame, status, bytes) && status == cudaSuccess)                       \
			tfs_note_rows(&frame,                                                      \
				rows_of(TARGET(copy), &copy->dstPtr, &copy->extent, bytes),        \
				rows_of(SOURCE(copy), &copy->srcPtr, &copy->extent, bytes), kind,  \
				tfs_stream_id(queue, per_thread));                                 \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COPY(cudaMemcpy3D, _ptds, (const struct cudaMemcpy3DParms *copy), (copy), copy->kind, NULL)
COPY(cudaMemcpy3DAsync, _ptsz, (const struct cudaMemcpy3DParms *copy, cudaStream_t stream),
	(copy, stream), copy->kind, stream)
COPY(cudaMemcpy3DPeer, _ptds, (const struct cudaMemcpy3DPeerParms *copy), (copy),
	cudaMemcpyDeviceToDevice, NULL)
COPY(cudaMemcpy3DPeerAsync, _ptsz, (const struct cudaMemcpy3DPeerParms *copy, cudaStream_t stream),
	(copy, stream), cudaMemcpyDeviceToDevice, stream)

/* These two have no twin: between devices, the streams of both are minded. */
TFS_HOOK(cudaError_t, cudaMemcpyPeer,
	(void *target, int target_device, const void *source, int source_device, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemcpyPeer);

	tfs_blocks_given(target, source);
	const cudaError_t status =
		TFS_REAL(cudaMemcpyPeer)(target, target_device, source, source_device, bytes);

	if (TFS_END(&frame, status, bytes))
		tfs_note_copy(&frame, target, source, bytes, cudaMemcpyDeviceToDevice,
			tfs_stream_id(NULL, false));
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudaError_t, cudaMemcpyPeerAsync,
	(void *target, int target_device, const void *source, int source_device, size_t bytes,
		cudaStream_t stream))
{
	struct tfs_frame frame = TFS_ENTER(cudaMemcpyPeerAsync);

	tfs_blocks_given(target, source);
	const cudaError_t status = TFS_REAL(cudaMemcpyPeerAsync)(
		target, target_device, source, source_device, bytes, stream);

	if (TFS_END(&frame, status, bytes))
		tfs_note_copy(&frame, target, source, bytes, cudaMemcpyDeviceToDevice,
			tfs_stream_id(stream, false));
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaMemcpy3D, copy)                                                                      \
	X(cudaMemcpy3D_ptds, copy)                                                                 \
	X(cudaMemcpy3DAsync, copy_async)                                                           \
	X(cudaMemcpy3DAsync_ptsz, copy_async)                                                      \
	X(cudaMemcpy3DPeer, copy)                                                                  \
	X(cudaMemcpy3DPeer_ptds, copy)                                                             \
	X(cudaMemcpy3DPeerAsync, copy_async)                                                       \
	X(cudaMemcpy3DPeerAsync_ptsz, copy_async)                                                  \
	X(cudaMemcpyPeer, copy)                                                                    \
	X(cudaMemcpyPeerAsync, copy_async)

FUNCTIONS(TFS_FUNCTION_ROW)
