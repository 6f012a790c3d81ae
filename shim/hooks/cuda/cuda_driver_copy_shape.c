/* SPDX-License-Identifier: MIT */
#include <driver_types.h>

#include "shim/hooks/cuda/cuda_driver_copy_shape.h"
#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Copies of two and three dimensions, one by one and in batches. */

/* An array has no address. */
static const void *start_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t offset)
{
	if (type == CU_MEMORYTYPE_HOST)
		return (const char *)host + offset;
	return type == CU_MEMORYTYPE_ARRAY ? NULL : (const void *)(uintptr_t)(device + offset);
}

static int direction(CUmemorytype target, CUmemorytype source)
{
	if (target == CU_MEMORYTYPE_UNIFIED || source == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (target == CU_MEMORYTYPE_HOST)
		return source == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
	return source == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

/* Where one side of `copy`, a struct of the driver's, begins; `layer` is rows before it. */
#define SIDE(copy, side, layer)                                                                    \
	start_of((copy)->side##MemoryType, (copy)->side##Host, (copy)->side##Device,               \
		((layer) + (copy)->side##Y) * (copy)->side##Pitch + (copy)->side##XInBytes)

/* What one side reaches over. */
#define ROWS_2D(copy, side)                                                                        \
	tfs_reach_of(SIDE(copy, side, 0), (copy)->side##Pitch, (copy)->WidthInBytes, (copy)->Height)
#define ROWS_3D(copy, side)                                                                        \
	tfs_reach_of(SIDE(copy, side, (copy)->side##Z *(copy)->side##Height), (copy)->side##Pitch, \
		(copy)->WidthInBytes,                                                              \
		(copy)->Depth != 0 ? ((copy)->Depth - 1) * (copy)->side##Height + (copy)->Height   \
				   : 0)

static size_t bytes_2d(const CUDA_MEMCPY2D *copy)
{
	return copy->WidthInBytes * copy->Height;
}

static void note_2d(struct tfs_frame *frame, const CUDA_MEMCPY2D *copy, uint16_t stream)
{
	tfs_note_rows(frame, ROWS_2D(copy, dst), ROWS_2D(copy, src),
		direction(copy->dstMemoryType, copy->srcMemoryType), stream);
}

static void given_2d(const CUDA_MEMCPY2D *copy)
{
	tfs_blocks_given(SIDE(copy, dst, 0), SIDE(copy, src, 0));
}

static size_t bytes_3d(const CUDA_MEMCPY3D *copy)
{
	return copy->WidthInBytes * copy->Height * copy->Depth;
}

void tfs_cuda_put_copy(struct tfs_details *details, const CUDA_MEMCPY3D *copy)
{
	tfs_put_rows(details, ROWS_3D(copy, dst), ROWS_3D(copy, src),
		direction(copy->dstMemoryType, copy->srcMemoryType));
}

static void note_3d(struct tfs_frame *frame, const CUDA_MEMCPY3D *copy, uint16_t stream)
{
	tfs_note_rows(frame, ROWS_3D(copy, dst), ROWS_3D(copy, src),
		direction(copy->dstMemoryType, copy->srcMemoryType), stream);
}

static void given_3d(const CUDA_MEMCPY3D *copy)
{
	tfs_blocks_given(SIDE(copy, dst, copy->dstZ * copy->dstHeight),
		SIDE(copy, src, copy->srcZ * copy->srcHeight));
}

static size_t bytes_3d_peer(const CUDA_MEMCPY3D_PEER *copy)
{
	return copy->WidthInBytes * copy->Height * copy->Depth;
}

static void note_3d_peer(struct tfs_frame *frame, const CUDA_MEMCPY3D_PEER *copy, uint16_t stream)
{
	tfs_note_rows(frame, ROWS_3D(copy, dst), ROWS_3D(copy, src),
		direction(copy->dstMemoryType, copy->srcMemoryType), stream);
}

static void given_3d_peer(const CUDA_MEMCPY3D_PEER *copy)
{
	tfs_blocks_given(SIDE(copy, dst, copy->dstZ * copy->dstHeight),
		SIDE(copy, src, copy->srcZ * copy->srcHeight));
}

/* `shape` says which of the functions above; the driver has read `copy` when it succeeds. */
#define COPY(name, suffix, shape, parameters, arguments, queue)                                    \
	TFS_TWIN_HOOKS(CUresult, name, suffix, parameters, arguments)                              \
	{                                                                                          \
		if (copy && tfs_blocks_any())                                                      \
			given_##shape(copy);                                                       \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
		const bool good = status == CUDA_SUCCESS;                                          \
                                                                                                   \
		if (TFS_END(&frame, status, good ? bytes_##shape(copy) : 0) && good)               \
			note_##shape(&frame, copy, tfs_stream_id(queue, per_thread));              \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COPY(cuMemcpy2D_v2, _ptds, 2d, (const CUDA_MEMCPY2D *copy), (copy), NULL)
COPY(cuMemcpy2DUnaligned_v2, _ptds, 2d, (const CUDA_MEMCPY2D *copy), (copy), NULL)
COPY(cuMemcpy2DAsync_v2, _ptsz, 2d, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream),
	stream)
COPY(cuMemcpy3D_v2, _ptds, 3d, (const CUDA_MEMCPY3D *copy), (copy), NULL)
COPY(cuMemcpy3DAsync_v2, _ptsz, 3d, (const CUDA_MEMCPY3D *copy, CUstream stream), (copy, stream),
	stream)
COPY(cuMemcpy3DPeer, _ptds, 3d_peer, (const CUDA_MEMCPY3D_PEER *copy), (copy), NULL)
COPY(cuMemcpy3DPeerAsync, _ptsz, 3d_peer, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream),
	(copy, stream), stream)

struct batch {
	const CUdeviceptr *targets, *sources;
	const size_t *sizes;
	size_t count;
};

static void given_batch(const struct batch *batch)
{
	for (size_t i = 0; tfs_blocks_any() && batch->targets && batch->sources && i < batch->count;
		i++)
		tfs_blocks_given((const void *)(uintptr_t)batch->targets[i],
			(const void *)(uintptr_t)batch->sources[i]);
}

static void note_batch(
	struct tfs_frame *frame, CUresult status, const struct batch *batch, uint16_t stream)
{
	const size_t count = status == CUDA_SUCCESS ? batch->count : 0;
	struct tfs_details details;
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += batch->sizes[i];
	if (TFS_END(frame, status, bytes)) {
		tfs_details_init(&details, stream);
		for (size_t i = 0; i < count; i++)
			tfs_put_copy(&details, (const void *)(uintptr_t)batch->targets[i],
				(const void *)(uintptr_t)batch->sources[i], batch->sizes[i],
				cudaMemcpyDefault);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

#define BATCH(name, parameters, arguments)                                                         \
	TFS_TWIN_HOOKS(CUresult, name, _ptsz, parameters, arguments)                               \
	{                                                                                          \
		const struct batch batch = {targets, sources, sizes, count};                       \
                                                                                                   \
		given_batch(&batch);                                                               \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		note_batch(&frame, status, &batch, tfs_stream_id(stream, per_thread));             \
		return status;                                                                     \
	}

BATCH(cuMemcpyBatchAsync,
	(CUdeviceptr * targets, CUdeviceptr *sources, size_t *sizes, size_t count,
		CUmemcpyAttributes *with, size_t *with_from, size_t with_count, size_t *out_failed,
		CUstream stream),
	(targets, sources, sizes, count, with, with_from, with_count, out_failed, stream))
BATCH(cuMemcpyBatchAsync_v2,
	(CUdeviceptr * targets, CUdeviceptr *sources, size_t *sizes, size_t count,
		CUmemcpyAttributes *with, size_t *with_from, size_t with_count, CUstream stream),
	(targets, sources, sizes, count, with, with_from, with_count, stream))

static const void *operand_of(const CUmemcpy3DOperand *operand)
{
	return operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER
		       ? (const void *)(uintptr_t)operand->op.ptr.ptr
		       : NULL;
}

/* Of an array, elements count as bytes: how large they are is not said here. */
static size_t bytes_of(const CUDA_MEMCPY3D_BATCH_OP *copy)
{
	return copy->extent.width * copy->extent.height * copy->extent.depth;
}

void tfs_cuda_note_batch_3d(struct tfs_frame *frame, CUresult status,
	const CUDA_MEMCPY3D_BATCH_OP *copies, size_t count, uint16_t stream)
{
	struct tfs_details details;
	size_t bytes = 0;

	count = status == CUDA_SUCCESS ? count : 0;
	for (size_t i = 0; i < count; i++)
		bytes += bytes_of(&copies[i]);
	if (TFS_END(frame, status, bytes)) {
		tfs_details_init(&details, stream);
		for (size_t i = 0; i < count; i++)
			tfs_put_copy(&details, operand_of(&copies[i].dst),
				operand_of(&copies[i].src), bytes_of(&copies[i]),
				cudaMemcpyDefault);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

#define BATCH_3D(name, parameters, arguments)                                                      \
	TFS_TWIN_HOOKS(CUresult, name, _ptsz, parameters, arguments)                               \
	{                                                                                          \
		const CUresult status = TFS_TWIN_REAL(name) arguments;                             \
                                                                                                   \
		tfs_cuda_note_batch_3d(                                                            \
			&frame, status, copies, count, tfs_stream_id(stream, per_thread));         \
		return status;                                                                     \
	}

BATCH_3D(cuMemcpy3DBatchAsync,
	(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *out_failed, unsigned long long flags,
		CUstream stream),
	(count, copies, out_failed, flags, stream))
BATCH_3D(cuMemcpy3DBatchAsync_v2,
	(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, unsigned long long flags, CUstream stream),
	(count, copies, flags, stream))

#define FUNCTIONS(X)                                                                               \
	X(cuMemcpy2D, _v2, , 3020, copy)                                                           \
	X(cuMemcpy2D, _v2, _ptds, 7000, copy)                                                      \
	X(cuMemcpy2DUnaligned, _v2, , 3020, copy)                                                  \
	X(cuMemcpy2DUnaligned, _v2, _ptds, 7000, copy)                                             \
	X(cuMemcpy2DAsync, _v2, , 3020, copy_async)                                                \
	X(cuMemcpy2DAsync, _v2, _ptsz, 7000, copy_async)                                           \
	X(cuMemcpy3D, _v2, , 3020, copy)                                                           \
	X(cuMemcpy3D, _v2, _ptds, 7000, copy)                                                      \
	X(cuMemcpy3DAsync, _v2, , 3020, copy_async)                                                \
	X(cuMemcpy3DAsync, _v2, _ptsz, 7000, copy_async)                                           \
	X(cuMemcpy3DPeer, , , 4000, copy)                                                          \
	X(cuMemcpy3DPeer, , _ptds, 7000, copy)                                                     \
	X(cuMemcpy3DPeerAsync, , , 4000, copy_async)                                               \
	X(cuMemcpy3DPeerAsync, , _ptsz, 7000, copy_async)                                          \
	X(cuMemcpyBatchAsync, , , 12080, copy_async)                                               \
	X(cuMemcpyBatchAsync, , _ptsz, 12080, copy_async)                                          \
	X(cuMemcpyBatchAsync, _v2, , 13000, copy_async)                                            \
	X(cuMemcpyBatchAsync, _v2, _ptsz, 13000, copy_async)                                       \
	X(cuMemcpy3DBatchAsync, , , 12080, copy_async)                                             \
	X(cuMemcpy3DBatchAsync, , _ptsz, 12080, copy_async)                                        \
	X(cuMemcpy3DBatchAsync, _v2, , 13000, copy_async)                                          \
	X(cuMemcpy3DBatchAsync, _v2, _ptsz, 13000, copy_async)

FUNCTIONS(TFS_DRIVER_ROW)
