/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include "shim/hooks/cuda.h"
#include "shim/hooks/notes.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

TFS_TWIN_HOOKS(CUresult, cuLaunchKernel, _ptsz,
	(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
		void **arguments, void **extra),
	(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, arguments,
		extra))
{
	const CUresult status = TFS_TWIN_REAL(cuLaunchKernel)(function, grid_x, grid_y, grid_z,
		block_x, block_y, block_z, shared, stream, arguments, extra);

	if (TFS_END(&frame, status, 0)) {
		const struct tfs_launch launch = {
			.kernel = tfs_kernel_find(
				status == CUDA_SUCCESS ? function : NULL, TFS_KERNEL_FUNCTION),
			.grid = {grid_x, grid_y, grid_z},
			.block = {block_x, block_y, block_z},
			.arguments = arguments,
			.extra = extra,
			.shared = shared,
			.stream = tfs_stream_id(stream, per_thread)};
		tfs_note_launch(&frame, &launch);
	}
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(CUresult, cuLaunchCooperativeKernel, _ptsz,
	(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
		void **arguments),
	(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, arguments))
{
	const CUresult status = TFS_TWIN_REAL(cuLaunchCooperativeKernel)(function, grid_x, grid_y,
		grid_z, block_x, block_y, block_z, shared, stream, arguments);

	if (TFS_END(&frame, status, 0)) {
		const struct tfs_launch launch = {
			.kernel = tfs_kernel_find(
				status == CUDA_SUCCESS ? function : NULL, TFS_KERNEL_FUNCTION),
			.grid = {grid_x, grid_y, grid_z},
			.block = {block_x, block_y, block_z},
			.arguments = arguments,
			.shared = shared,
			.stream = tfs_stream_id(stream, per_thread)};
		tfs_note_launch(&frame, &launch);
	}
	return TFS_LEAVE(&frame), status;
}

TFS_TWIN_HOOKS(CUresult, cuLaunchKernelEx, _ptsz,
	(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra),
	(config, function, arguments, extra))
{
	const CUresult status = TFS_TWIN_REAL(cuLaunchKernelEx)(config, function, arguments, extra);

	/* What a refused call was given need not be readable. */
	if (TFS_END(&frame, status, 0) && status == CUDA_SUCCESS) {
		const struct tfs_launch launch = {
			.kernel = tfs_kernel_find(function, TFS_KERNEL_FUNCTION),
			.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
			.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
			.arguments = arguments,
			.extra = extra,
			.shared = config->sharedMemBytes,
			.stream = tfs_stream_id(config->hStream, per_thread)};
		tfs_note_launch(&frame, &launch);
	}
	return TFS_LEAVE(&frame), status;
}

/* One kernel per device; the first stands for all. */
TFS_HOOK(CUresult, cuLaunchCooperativeKernelMultiDevice,
	(CUDA_LAUNCH_PARAMS * list, unsigned count, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuLaunchCooperativeKernelMultiDevice);
	const CUresult status = TFS_REAL(cuLaunchCooperativeKernelMultiDevice)(list, count, flags);

	if (TFS_END(&frame, status, 0) && status == CUDA_SUCCESS && count > 0) {
		const struct tfs_launch launch = {
			.kernel = tfs_kernel_find(list->function, TFS_KERNEL_FUNCTION),
			.grid = {list->gridDimX, list->gridDimY, list->gridDimZ},
			.block = {list->blockDimX, list->blockDimY, list->blockDimZ},
			.arguments = list->kernelParams,
			.shared = list->sharedMemBytes,
			.stream = tfs_stream_id(list->hStream, false)};
		tfs_note_launch(&frame, &launch);
	}
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuLaunchKernel, , , 4000, launch)                                                        \
	X(cuLaunchKernel, , _ptsz, 7000, launch)                                                   \
	X(cuLaunchCooperativeKernel, , , 9000, launch)                                             \
	X(cuLaunchCooperativeKernel, , _ptsz, 9000, launch)                                        \
	X(cuLaunchKernelEx, , , 11060, launch)                                                     \
	X(cuLaunchKernelEx, , _ptsz, 11060, launch)                                                \
	X(cuLaunchCooperativeKernelMultiDevice, , , 9000, launch)

FUNCTIONS(TFS_DRIVER_ROW)
