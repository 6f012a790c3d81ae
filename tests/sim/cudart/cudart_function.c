/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_device.h"

/* Not read from the code: a typical number. */
#define REGISTERS 32

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
	ENTER(cudaFuncGetAttributes_v3020, attr, func);
	if (!attr || !cudart_function(func))
		return LEAVE(attr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
	memset(attr, 0, sizeof(*attr));
	attr->maxThreadsPerBlock = 1024;
	attr->numRegs = REGISTERS;
	attr->ptxVersion = 80;
	attr->binaryVersion = 80;
	attr->maxDynamicSharedSizeBytes = 48 << 10;
	attr->preferredShmemCarveout = -1;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
	struct tfsim_function *function = cudart_function(func);
	ENTER(cudaFuncSetAttribute_v9000, func, attr, value);

	if (!function)
		return LEAVE(cudaErrorInvalidDeviceFunction);
	return LEAVE(attr == cudaFuncAttributeMaxDynamicSharedMemorySize
			     ? tfsim_function_shared(function, value)
			     : tfsim_sticky());
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
	ENTER(cudaFuncSetCacheConfig_v3020, func, config);
	return LEAVE(cudart_function(func) ? tfsim_sticky() : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
	struct tfsim_function *function = cudart_function(func);
	ENTER(cudaFuncGetName_v12030, name, func);

	if (!name || !function)
		return LEAVE(name ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
	*name = tfsim_function_name(function);
	return LEAVE(cudaSuccess);
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size)
{
	struct tfsim_function *function = cudart_function(func);
	size_t ignored;
	ENTER(cudaFuncGetParamInfo_v12040, func, index, offset, size);

	if (!function)
		return LEAVE(cudaErrorInvalidDeviceFunction);
	return LEAVE(offset && tfsim_function_param(function, index, offset, size ? size : &ignored)
			     ? cudaSuccess
			     : cudaErrorInvalidValue);
}

static int occupancy(int block_size, size_t shared)
{
	int by_threads = 2048 / ((block_size + 31) / 32 * 32);
	int by_registers = 65536 / (REGISTERS * ((block_size + 31) / 32 * 32));
	int by_shared = shared ? (int)((164u << 10) / (shared + 1024)) : 32;
	int blocks = by_threads < by_registers ? by_threads : by_registers;

	blocks = blocks < by_shared ? blocks : by_shared;
	return blocks < 32 ? blocks : 32;
}

static cudaError_t fill_occupancy(int *blocks, const void *func, int block_size, size_t shared)
{
	if (!blocks || block_size <= 0)
		return cudaErrorInvalidValue;
	if (!cudart_function(func))
		return cudaErrorInvalidDeviceFunction;
	*blocks = block_size > 1024 ? 0 : occupancy(block_size, shared);
	return tfsim_sticky();
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, const void *func, int block_size, size_t shared)
{
	ENTER(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050, blocks, func, block_size,
		shared);
	return LEAVE(fill_occupancy(blocks, func, block_size, shared));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *func, int block_size, size_t shared, unsigned flags)
{
	ENTER(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000, blocks, func,
		block_size, shared, flags);
	return LEAVE(flags > 1 ? cudaErrorInvalidValue
			       : fill_occupancy(blocks, func, block_size, shared));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
	size_t *bytes, const void *func, int blocks, int block_size)
{
	ENTER(cudaOccupancyAvailableDynamicSMemPerBlock_v10200, bytes, func, blocks, block_size);
	if (!bytes || blocks <= 0 || block_size <= 0)
		return LEAVE(cudaErrorInvalidValue);
	*bytes = (164u << 10) / (size_t)blocks - 1024;
	*bytes = *bytes > 48u << 10 ? 48u << 10 : *bytes;
	return LEAVE(cudart_function(func) ? tfsim_sticky() : cudaErrorInvalidDeviceFunction);
}

/* As measured: the handle of a kernel is no symbol here, unlike everywhere else. */
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
	struct tfsim_function *found = cudart_stub(symbol);
	ENTER(cudaGetFuncBySymbol_v11000, function, symbol);

	if (!function || !found)
		return LEAVE(function ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
	*function = (cudaFunction_t)found;
	return LEAVE(cudaSuccess);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *entry)
{
	struct tfsim_function *found = cudart_function(entry);
	ENTER(cudaGetKernel_v12000, kernel, entry);

	if (!kernel || !found)
		return LEAVE(kernel ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
	*kernel = (cudaKernel_t)found;
	return LEAVE(cudaSuccess);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
	enum cudaJitOption *jit_options, void **jit_values, unsigned jit_count,
	enum cudaLibraryOption *options, void **values, unsigned count)
{
	struct tfsim_module *module;
	ENTER(cudaLibraryLoadData_v12060, library, code, jit_options, jit_values, jit_count,
		options, values, count);

	if (!library || !code)
		return LEAVE(cudaErrorInvalidValue);
	module = tfsim_module_load(code);
	if (!module)
		return LEAVE(cudaErrorMemoryAllocation);
	*library = (cudaLibrary_t)module;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
	enum cudaJitOption *jit_options, void **jit_values, unsigned jit_count,
	enum cudaLibraryOption *options, void **values, unsigned count)
{
	struct tfsim_module *module;
	cudaError_t error;
	ENTER(cudaLibraryLoadFromFile_v12060, library, path, jit_options, jit_values, jit_count,
		options, values, count);

	if (!library || !path)
		return LEAVE(cudaErrorInvalidValue);
	error = tfsim_module_load_file(path, &module);
	if (error != cudaSuccess)
		return LEAVE(error);
	*library = (cudaLibrary_t)module;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	ENTER(cudaLibraryUnload_v12060, library);
	if (!library)
		return LEAVE(cudaErrorInvalidResourceHandle);
	tfsim_module_unload((struct tfsim_module *)library);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	struct tfsim_function *found = NULL;
	ENTER(cudaLibraryGetKernel_v12060, kernel, library, name);

	if (!kernel || !library || !name)
		return LEAVE(cudaErrorInvalidValue);
	found = tfsim_module_function((struct tfsim_module *)library, name);
	if (!found)
		return LEAVE(cudaErrorSymbolNotFound);
	*kernel = (cudaKernel_t)found;
	return LEAVE(cudaSuccess);
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
	ENTER(cudaLibraryGetKernelCount_v12060, count, library);
	if (!count || !library)
		return LEAVE(cudaErrorInvalidValue);
	*count = tfsim_module_functions((struct tfsim_module *)library, NULL, 0);
	return LEAVE(cudaSuccess);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room, cudaLibrary_t library)
{
	ENTER(cudaLibraryEnumerateKernels_v12060, kernels, room, library);
	if (!kernels || !library)
		return LEAVE(cudaErrorInvalidValue);
	tfsim_module_functions(
		(struct tfsim_module *)library, (struct tfsim_function **)kernels, room);
	return LEAVE(cudaSuccess);
}

cudaError_t cudaKernelSetAttributeForDevice(
	cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device)
{
	struct tfsim_function *function = tfsim_function_check(kernel);
	ENTER(cudaKernelSetAttributeForDevice_v12060, kernel, attr, value, device);

	if (!function || device < 0 || device >= tfsim_device_count())
		return LEAVE(function ? cudaErrorInvalidDevice : cudaErrorInvalidDeviceFunction);
	return LEAVE(attr == cudaFuncAttributeMaxDynamicSharedMemorySize
			     ? tfsim_function_shared(function, value)
			     : tfsim_sticky());
}
