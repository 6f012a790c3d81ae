/* SPDX-License-Identifier: MIT */
/* Modules, libraries, functions and their launches; kernels and functions are one kind of handle.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cuda/cuda_private.h"

static CUresult load(void **out, const void *image)
{
	struct tfsim_module *module;

	if (!out || !image)
		return CUDA_ERROR_INVALID_VALUE;
	module = tfsim_module_load(image);
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = module;
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuModuleLoadData, (CUmodule * module, const void *image), load((void **)module, image))

SIM_DRIVER(cuModuleLoadDataEx,
	(CUmodule * module, const void *image, unsigned int numOptions, CUjit_option *options,
		void **optionValues),
	((void)numOptions, (void)options, (void)optionValues, load((void **)module, image)))

SIM_DRIVER(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin),
	load((void **)module, fatCubin))

static CUresult load_file(void **out, const char *path)
{
	struct tfsim_module *module;
	cudaError_t error;

	if (!out || !path)
		return CUDA_ERROR_INVALID_VALUE;
	error = tfsim_module_load_file(path, &module);
	if (error == cudaSuccess)
		*out = module;
	return (CUresult)error;
}

SIM_DRIVER(cuModuleLoad, (CUmodule * module, const char *fname), load_file((void **)module, fname))

SIM_DRIVER(cuLibraryLoadFromFile,
	(CUlibrary * library, const char *fileName, CUjit_option *jitOptions,
		void **jitOptionsValues, unsigned int numJitOptions,
		CUlibraryOption *libraryOptions, void **libraryOptionValues,
		unsigned int numLibraryOptions),
	((void)jitOptions, (void)jitOptionsValues, (void)numJitOptions, (void)libraryOptions,
		(void)libraryOptionValues, (void)numLibraryOptions,
		load_file((void **)library, fileName)))

SIM_DRIVER(cuModuleUnload, (CUmodule hmod),
	hmod ? (tfsim_module_unload((struct tfsim_module *)hmod), 0)
	     : (int)CUDA_ERROR_INVALID_VALUE)

SIM_DRIVER(cuLibraryLoadData,
	(CUlibrary * library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
		unsigned int numJitOptions, CUlibraryOption *libraryOptions,
		void **libraryOptionValues, unsigned int numLibraryOptions),
	((void)jitOptions, (void)jitOptionsValues, (void)numJitOptions, (void)libraryOptions,
		(void)libraryOptionValues, (void)numLibraryOptions, load((void **)library, code)))

SIM_DRIVER(cuLibraryUnload, (CUlibrary library),
	library ? (tfsim_module_unload((struct tfsim_module *)library), 0)
		: (int)CUDA_ERROR_INVALID_VALUE)

static CUresult function_of(void **out, void *module, const char *name)
{
	struct tfsim_function *function;

	if (!out || !module || !name)
		return CUDA_ERROR_INVALID_VALUE;
	function = tfsim_module_function(module, name);
	if (!function)
		return CUDA_ERROR_NOT_FOUND;
	*out = function;
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuModuleGetFunction, (CUfunction * hfunc, CUmodule hmod, const char *name),
	function_of((void **)hfunc, hmod, name))

SIM_DRIVER(cuLibraryGetKernel, (CUkernel * pKernel, CUlibrary library, const char *name),
	function_of((void **)pKernel, library, name))

SIM_DRIVER(cuKernelGetFunction, (CUfunction * pFunc, CUkernel kernel),
	pFunc &&tfsim_function_check(kernel) ? (*pFunc = (CUfunction)(void *)kernel, 0)
					     : (int)CUDA_ERROR_INVALID_HANDLE)

/* What drivers before 12.4 ("parameters") and before 12.3 ("names", nor the parameters) do not
 * tell. */
static bool untold(const char *what)
{
	const char *text = getenv("TFSIM_UNTOLD");

	return text && (strcmp(text, "names") == 0 || strcmp(text, what) == 0);
}

static CUresult name_of(const char **out, const void *handle)
{
	const struct tfsim_function *function = tfsim_function_check(handle);

	if (untold("names"))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = tfsim_function_name(function);
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuFuncGetName, (const char **name, CUfunction hfunc), name_of(name, hfunc))

SIM_DRIVER(cuKernelGetName, (const char **name, CUkernel hfunc), name_of(name, hfunc))

static CUresult param_of(const void *handle, size_t index, size_t *out_offset, size_t *out_size)
{
	struct tfsim_function *function = tfsim_function_check(handle);
	size_t offset, size;

	if (untold("parameters"))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out_offset || !tfsim_function_param(function, index, &offset, &size))
		return CUDA_ERROR_INVALID_VALUE;
	*out_offset = offset;
	if (out_size)
		*out_size = size;
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuFuncGetParamInfo,
	(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
	param_of(func, paramIndex, paramOffset, paramSize))

SIM_DRIVER(cuKernelGetParamInfo,
	(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
	param_of(kernel, paramIndex, paramOffset, paramSize))

static CUresult attribute_of(int *out, CUfunction_attribute attribute, const void *handle)
{
	if (!tfsim_function_check(handle))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*out = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
	       : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
	       : attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION         ? 80
	       : attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION      ? 80
								    : 0;
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuFuncGetAttribute, (int *pi, CUfunction_attribute attrib, CUfunction hfunc),
	attribute_of(pi, attrib, hfunc))

SIM_DRIVER(cuFuncSetAttribute, (CUfunction hfunc, CUfunction_attribute attrib, int value),
	((void)attrib, (void)value,
		tfsim_function_check(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE))

SIM_DRIVER(cuFuncSetCacheConfig, (CUfunction hfunc, CUfunc_cache config),
	((void)config, tfsim_function_check(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE))

/* Arguments packed in one buffer, by the kernel's layout; NULL when it is not so. */
static void **unpack(struct tfsim_function *function, void **extra)
{
	char *buffer = NULL;
	size_t room = 0, count = 0, offset, size;
	void **args;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			room = *(size_t *)extra[1];
	while (tfsim_function_param(function, count, &offset, &size))
		if (++count && (!buffer || offset + size > room))
			return NULL;
	args = calloc(count + 1, sizeof(*args));
	for (size_t i = 0; args && i < count; i++) {
		tfsim_function_param(function, i, &offset, &size);
		args[i] = buffer + offset;
	}
	return args;
}

static CUresult launch(struct tfsim_api *api, const CUlaunchConfig *config, const void *handle,
	CUstream stream, void **params, void **extra)
{
	struct tfsim_function *function = tfsim_function_check(handle);
	dim3 grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
	dim3 block = {config->blockDimX, config->blockDimY, config->blockDimZ};
	CUresult result = sim_driver_ready();
	void **args = NULL;

	if (result)
		return result;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (params && extra)
		return CUDA_ERROR_INVALID_VALUE;
	api->symbol = tfsim_function_name(function);
	if (extra) {
		args = unpack(function, extra);
		if (!args)
			return CUDA_ERROR_INVALID_VALUE;
	}
	result = sim_driver_result((int)tfsim_launch(
		function, grid, block, config->sharedMemBytes, stream, args ? args : params));
	free(args);
	return result;
}

/* Launches carry the kernel's name, which CUPTI tells at entry already. */
static CUresult framed(uint32_t cbid, const char *name, const CUlaunchConfig *config, CUfunction f,
	CUstream none, void **params, void **extra)
{
	const struct tfsim_function *function = tfsim_function_check(f);
	struct tfsim_api api;
	CUresult result;

	tfsim_api_enter(&api, TFSIM_DRIVER_API, cbid, name, NULL);
	api.symbol = function ? tfsim_function_name(function) : NULL;
	result = launch(&api, config, f, config->hStream ? config->hStream : none, params, extra);
	tfsim_api_exit(&api, (int)result);
	return result;
}

#define LAUNCH(name, default_stream)                                                               \
	CUresult name(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,                  \
		unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,             \
		unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,             \
		void **kernelParams, void **extra)                                                 \
	{                                                                                          \
		CUlaunchConfig config = {gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,       \
			blockDimZ, sharedMemBytes, hStream, NULL, 0};                              \
                                                                                                   \
		return framed(CUPTI_DRIVER_TRACE_CBID_##name, #name, &config, f, default_stream,   \
			kernelParams, extra);                                                      \
	}

LAUNCH(cuLaunchKernel, NULL)
LAUNCH(cuLaunchKernel_ptsz, CU_STREAM_PER_THREAD)

#define LAUNCH_EX(name, default_stream)                                                            \
	CUresult name(                                                                             \
		const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)     \
	{                                                                                          \
		if (!config)                                                                       \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		return framed(CUPTI_DRIVER_TRACE_CBID_##name, #name, config, f, default_stream,    \
			kernelParams, extra);                                                      \
	}

LAUNCH_EX(cuLaunchKernelEx, NULL)
LAUNCH_EX(cuLaunchKernelEx_ptsz, CU_STREAM_PER_THREAD)

#define LAUNCH_COOPERATIVE(name, default_stream)                                                   \
	CUresult name(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,                  \
		unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,             \
		unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,             \
		void **kernelParams)                                                               \
	{                                                                                          \
		CUlaunchConfig config = {gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,       \
			blockDimZ, sharedMemBytes, hStream, NULL, 0};                              \
                                                                                                   \
		return framed(CUPTI_DRIVER_TRACE_CBID_##name, #name, &config, f, default_stream,   \
			kernelParams, NULL);                                                       \
	}

LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, NULL)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, CU_STREAM_PER_THREAD)

static CUresult occupancy(int *out_blocks, int block_size)
{
	if (!out_blocks || block_size < 1)
		return CUDA_ERROR_INVALID_VALUE;
	*out_blocks = block_size > 1024 ? 0 : 2048 / block_size > 32 ? 32 : 2048 / block_size;
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize),
	((void)func, (void)dynamicSMemSize, occupancy(numBlocks, blockSize)))
