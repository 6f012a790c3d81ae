/* SPDX-License-Identifier: MIT */
#include <cublas.h>
#include <driver_types.h>

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublas

/* Copies between host and device, and memory, as cuBLAS has them for programs that do not want to
 * see the runtime. */

#define COPY(name, parameters, arguments, target, source, bytes, kind, queue)                      \
	TFS_HOOK(cublasStatus_t, name, parameters)                                                 \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const cublasStatus_t status = TFS_REAL(name) arguments;                            \
                                                                                                   \
		if (TFS_END(&frame, status, (size_t)(bytes)))                                      \
			tfs_note_rows(&frame, target, source, kind, tfs_stream_id(queue, false));  \
		return TFS_LEAVE(&frame), status;                                                  \
	}

/* What one side reaches over, of a vector and of a matrix, which lies column by column. */
#define EACH(side) tfs_reach_of(side, (size_t)(side##_step * size), (size_t)size, (size_t)count)
#define COLUMNS(side)                                                                              \
	tfs_reach_of(side, (size_t)(side##_step * size), (size_t)(rows * size), (size_t)columns)

#define VECTOR(name, integer, kind)                                                                \
	COPY(name,                                                                                 \
		(integer count, integer size, const void *from, integer from_step, void *to,       \
			integer to_step),                                                          \
		(count, size, from, from_step, to, to_step), EACH(to), EACH(from), count *size,    \
		kind, NULL)
#define VECTOR_ASYNC(name, integer, kind)                                                          \
	COPY(name,                                                                                 \
		(integer count, integer size, const void *from, integer from_step, void *to,       \
			integer to_step, cudaStream_t stream),                                     \
		(count, size, from, from_step, to, to_step, stream), EACH(to), EACH(from),         \
		count *size, kind, stream)
#define MATRIX(name, integer, kind)                                                                \
	COPY(name,                                                                                 \
		(integer rows, integer columns, integer size, const void *from, integer from_step, \
			void *to, integer to_step),                                                \
		(rows, columns, size, from, from_step, to, to_step), COLUMNS(to), COLUMNS(from),   \
		rows *columns *size, kind, NULL)
#define MATRIX_ASYNC(name, integer, kind)                                                          \
	COPY(name,                                                                                 \
		(integer rows, integer columns, integer size, const void *from, integer from_step, \
			void *to, integer to_step, cudaStream_t stream),                           \
		(rows, columns, size, from, from_step, to, to_step, stream), COLUMNS(to),          \
		COLUMNS(from), rows *columns *size, kind, stream)
#define BOTH(shape, name, kind) shape(name, int, kind) shape(name##_64, int64_t, kind)

BOTH(VECTOR, cublasSetVector, cudaMemcpyHostToDevice)
BOTH(VECTOR, cublasGetVector, cudaMemcpyDeviceToHost)
BOTH(VECTOR_ASYNC, cublasSetVectorAsync, cudaMemcpyHostToDevice)
BOTH(VECTOR_ASYNC, cublasGetVectorAsync, cudaMemcpyDeviceToHost)
BOTH(MATRIX, cublasSetMatrix, cudaMemcpyHostToDevice)
BOTH(MATRIX, cublasGetMatrix, cudaMemcpyDeviceToHost)
BOTH(MATRIX_ASYNC, cublasSetMatrixAsync, cudaMemcpyHostToDevice)
BOTH(MATRIX_ASYNC, cublasGetMatrixAsync, cudaMemcpyDeviceToHost)

TFS_HOOK(cublasStatus, cublasAlloc, (int count, int size, void **out))
{
	struct tfs_frame frame = TFS_ENTER(cublasAlloc);
	const cublasStatus status = TFS_REAL(cublasAlloc)(count, size, out);
	const bool good = status == CUBLAS_STATUS_SUCCESS && frame.thread;

	tfs_note_alloc(&frame, status,
		(struct tfs_range){.address = good ? (uint64_t)(uintptr_t)*out : 0,
			.bytes = (uint64_t)count * (uint64_t)size,
			.kind = TFS_MEMORY_DEVICE});
	return status;
}

TFS_HOOK(cublasStatus, cublasFree, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(cublasFree);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const cublasStatus status = TFS_REAL(cublasFree)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cublasSetVector, copy)                                                                   \
	X(cublasSetVector_64, copy)                                                                \
	X(cublasGetVector, copy)                                                                   \
	X(cublasGetVector_64, copy)                                                                \
	X(cublasSetVectorAsync, copy_async)                                                        \
	X(cublasSetVectorAsync_64, copy_async)                                                     \
	X(cublasGetVectorAsync, copy_async)                                                        \
	X(cublasGetVectorAsync_64, copy_async)                                                     \
	X(cublasSetMatrix, copy)                                                                   \
	X(cublasSetMatrix_64, copy)                                                                \
	X(cublasGetMatrix, copy)                                                                   \
	X(cublasGetMatrix_64, copy)                                                                \
	X(cublasSetMatrixAsync, copy_async)                                                        \
	X(cublasSetMatrixAsync_64, copy_async)                                                     \
	X(cublasGetMatrixAsync, copy_async)                                                        \
	X(cublasGetMatrixAsync_64, copy_async)                                                     \
	X(cublasAlloc, alloc)                                                                      \
	X(cublasFree, free)

FUNCTIONS(TFS_FUNCTION_ROW)
