/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* What lies between rows stays as it was, so where the fill ends is not said unless there is
 * nothing between. */
static void note_rows(struct tfs_frame *frame, cudaError_t status, struct cudaPitchedPtr target,
	int value, struct cudaExtent extent, uint16_t stream)
{
	const size_t rows = extent.height * extent.depth;
	const size_t bytes = extent.width * rows;
	const bool whole =
		rows == 1 || (target.pitch == extent.width &&
				     (extent.depth == 1 || target.ysize == extent.height));

	if (TFS_END(frame, status, bytes))
		tfs_note_set(frame, target.ptr, (uint32_t)value, whole ? bytes : 0, stream);
	TFS_LEAVE(frame);
}

#define FILL(name, suffix, parameters, arguments, rows, shape, queue)                              \
	TFS_TWIN_HOOKS(cudaError_t, name, suffix, parameters, arguments)                           \
	{                                                                                          \
		tfs_blocks_given((rows).ptr, NULL);                                                \
		const cudaError_t status = TFS_TWIN_REAL(name) arguments;                          \
                                                                                                   \
		note_rows(&frame, status, rows, value, shape, tfs_stream_id(queue, per_thread));   \
		return status;                                                                     \
	}

#define ROWS ((struct cudaPitchedPtr){target, pitch, width, height})
#define SHAPE ((struct cudaExtent){width, height, 1})

FILL(cudaMemset2D, _ptds, (void *target, size_t pitch, int value, size_t width, size_t height),
	(target, pitch, value, width, height), ROWS, SHAPE, NULL)
FILL(cudaMemset2DAsync, _ptsz,
	(void *target, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	(target, pitch, value, width, height, stream), ROWS, SHAPE, stream)
FILL(cudaMemset3D, _ptds, (struct cudaPitchedPtr target, int value, struct cudaExtent extent),
	(target, value, extent), target, extent, NULL)
FILL(cudaMemset3DAsync, _ptsz,
	(struct cudaPitchedPtr target, int value, struct cudaExtent extent, cudaStream_t stream),
	(target, value, extent, stream), target, extent, stream)

#define FUNCTIONS(X)                                                                               \
	X(cudaMemset2D, set)                                                                       \
	X(cudaMemset2D_ptds, set)                                                                  \
	X(cudaMemset2DAsync, set_async)                                                            \
	X(cudaMemset2DAsync_ptsz, set_async)                                                       \
	X(cudaMemset3D, set)                                                                       \
	X(cudaMemset3D_ptds, set)                                                                  \
	X(cudaMemset3DAsync, set_async)                                                            \
	X(cudaMemset3DAsync_ptsz, set_async)

FUNCTIONS(TFS_FUNCTION_ROW)
