/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/hooks/fill.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Does anything lie between the rows? That stays as it was. */
static bool has_gaps(struct cudaPitchedPtr target, struct cudaExtent extent)
{
	return extent.height * extent.depth != 1 &&
	       (target.pitch != extent.width ||
		       (extent.depth != 1 && target.ysize != extent.height));
}

#define ROWS                                                                                       \
	target, width *height, (uint32_t)value, true,                                              \
		has_gaps((struct cudaPitchedPtr){target, pitch, width, height},                    \
			(struct cudaExtent){width, height, 1})

TFS_FILL_HOOKS(cudaError_t, cudaMemset2D, _ptds,
	(void *target, size_t pitch, int value, size_t width, size_t height),
	(target, pitch, value, width, height), NULL, ROWS)
TFS_FILL_HOOKS(cudaError_t, cudaMemset2DAsync, _ptsz,
	(void *target, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	(target, pitch, value, width, height, stream), stream, ROWS)

#define BOX                                                                                        \
	target.ptr, extent.width *extent.height *extent.depth, (uint32_t)value, true,              \
		has_gaps(target, extent)

TFS_FILL_HOOKS(cudaError_t, cudaMemset3D, _ptds,
	(struct cudaPitchedPtr target, int value, struct cudaExtent extent),
	(target, value, extent), NULL, BOX)
TFS_FILL_HOOKS(cudaError_t, cudaMemset3DAsync, _ptsz,
	(struct cudaPitchedPtr target, int value, struct cudaExtent extent, cudaStream_t stream),
	(target, value, extent, stream), stream, BOX)

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
