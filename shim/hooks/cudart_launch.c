/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>
#include <string.h>

#include "shim/hook.h"
#include "shim/kernels.h"
#include "shim/memory.h"
#include "shim/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* CUDA 13's compiler calls these; no public header declares them. */
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

/* A parameter of a pointer's size that points into known memory is an operand; what the kernel
 * does with it is not known. Others are scalars, which tell one use of a kernel from another. */
static void put_argument(struct tfs_details *details, const void *argument, uint32_t bytes)
{
	struct tfs_range range;
	uint64_t value = 0;

	if (bytes != sizeof(uint32_t) && bytes != sizeof(uint64_t))
		return;
	memcpy(&value, argument, bytes);
	if (bytes == sizeof(uint64_t) && tfs_memory_find(value, &range))
		tfs_put(details, value,
			TFS_ITEM(TFS_ROLE_MAYBE | TFS_ROLE_MEMORY(range.kind),
				range.address + range.bytes - value));
	else
		tfs_put_attribute(details, TFS_ATTRIBUTE_argument, value);
}

static void note_launch(struct tfs_frame *frame, const struct tfs_kernel *kernel, dim3 grid,
	dim3 block, void **arguments, size_t shared, uint16_t stream)
{
	struct tfs_details details;

	tfs_details_init(&details, stream);
	if (grid.y == 1 && grid.z == 1 && block.y == 1 && block.z == 1) {
		tfs_put_attribute(&details, TFS_ATTRIBUTE_launch,
			kernel->name | (uint64_t)grid.x << 16 | (uint64_t)block.x << 48);
	} else {
		tfs_put_attribute(&details, TFS_ATTRIBUTE_kernel, kernel->name);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_grid, grid.x | (uint64_t)grid.y << 32);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_block, block.x | (uint64_t)block.y << 32);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_grid_z, grid.z | (uint64_t)block.z << 32);
	}
	if (shared > 0)
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shared, shared);
	for (uint32_t i = 0; arguments != NULL && i < kernel->parameters; i++)
		put_argument(&details, arguments[i], kernel->sizes[i]);
	tfs_hook_details(frame, &details);
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

TFS_FAMILY(cudart_launch, FUNCTIONS);
