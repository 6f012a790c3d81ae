/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define LAUNCH_GLUE __cudaLaunchKernel_ptsz
#else
#define LAUNCH_GLUE __cudaLaunchKernel
#endif

static cudaError_t launch(
	const void *symbol, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void **args)
{
	struct tfsim_function *function = cudart_function(symbol);

	if (!function)
		return cudaErrorInvalidDeviceFunction;
	return tfsim_launch(function, grid, block, shared, stream, args);
}

cudaError_t cudaLaunchKernel(
	const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	ENTER_TWIN(cudaLaunchKernel_v7000, cudaLaunchKernel_ptsz_v7000, func, grid, block, args,
		shared, stream);
	return LEAVE(launch(func, grid, block, shared, STREAM(stream), args));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
	cudaError_t error = cudaErrorInvalidConfiguration;
	ENTER_TWIN(cudaLaunchKernelExC_v11060, cudaLaunchKernelExC_ptsz_v11060, config, func, args);

	if (config)
		error = launch(func, config->gridDim, config->blockDim, config->dynamicSmemBytes,
			STREAM(config->stream), args);
	return LEAVE(error);
}

cudaError_t cudaLaunchCooperativeKernel(
	const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	ENTER_TWIN(cudaLaunchCooperativeKernel_v9000, cudaLaunchCooperativeKernel_ptsz_v9000, func,
		grid, block, args, shared, stream);
	return LEAVE(launch(func, grid, block, shared, STREAM(stream), args));
}

/* What nvcc 13 makes of <<<>>>. */
cudaError_t LAUNCH_GLUE(
	cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	struct tfsim_api api_;

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
	tfsim_api_enter(&api_, TFSIM_RUNTIME_API,
		CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, __func__, NULL);
#else
	tfsim_api_enter(&api_, TFSIM_RUNTIME_API,
		CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, __func__, NULL);
#endif
	return LEAVE(launch(kernel, grid, block, shared, STREAM(stream), args));
}
