/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cuda_runtime_api.h>

#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* CUDA 13's compiler calls these; no public header declares them. */
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static inline __attribute__((always_inline)) void note_launch(struct tfs_frame *frame,
	const struct tfs_kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
	uint16_t stream)
{
	const struct tfs_launch launch = {.kernel = kernel,
		.grid = {grid.x, grid.y, grid.z},
		.block = {block.x, block.y, block.z},
		.arguments = arguments,
		.shared = shared,
		.stream = stream};

	tfs_note_launch(frame, &launch);
}

TFS_TWIN_HOOKS(cudaError_t, cudaLaunchKernel, _ptsz,
	(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
		cudaStream_t stream),
	(function, grid, block, arguments, shared, stream))
{
	const cudaError_t status =
		TFS_TWIN_REAL(cudaLaunchKernel)(function, grid, block, arguments, shared, stream);

	if (TFS_END(&frame, status, 0))
		note_launch(&frame, tfs_kernel_find(function, TFS_KERNEL_SYMBOL), grid, block,
			arguments, shared, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, __cudaLaunchKernel, _ptsz,
	(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
		cudaStream_t stream),
	(kernel, grid, block, arguments, shared, stream))
{
	const cudaError_t status =
		TFS_TWIN_REAL(__cudaLaunchKernel)(kernel, grid, block, arguments, shared, stream);

	if (TFS_END(&frame, status, 0))
		note_launch(&frame, tfs_kernel_find(kernel, TFS_KERNEL_HANDLE), grid, block,
			arguments, shared, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaLaunchCooperativeKernel, _ptsz,
	(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
		cudaStream_t stream),
	(function, grid, block, arguments, shared, stream))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaLaunchCooperativeKernel)(
		function, grid, block, arguments, shared, stream);

	if (TFS_END(&frame, status, 0))
		note_launch(&frame, tfs_kernel_find(function, TFS_KERNEL_SYMBOL), grid, block,
			arguments, shared, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaLaunchKernelExC, _ptsz,
	(const cudaLaunchConfig_t *config, const void *function, void **arguments),
	(config, function, arguments))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaLaunchKernelExC)(config, function, arguments);

	if (TFS_END(&frame, status, 0))
		note_launch(&frame, tfs_kernel_find(function, TFS_KERNEL_SYMBOL), config->gridDim,
			config->blockDim, arguments, config->dynamicSmemBytes,
			tfs_stream_id(config->stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaLaunchKernel, launch)                                                                \
	X(cudaLaunchKernel_ptsz, launch)                                                           \
	X(__cudaLaunchKernel, launch)                                                              \
	X(__cudaLaunchKernel_ptsz, launch)                                                         \
	X(cudaLaunchCooperativeKernel, launch)                                                     \
	X(cudaLaunchCooperativeKernel_ptsz, launch)                                                \
	X(cudaLaunchKernelExC, launch)                                                             \
	X(cudaLaunchKernelExC_ptsz, launch)

FUNCTIONS(TFS_FUNCTION_ROW)
