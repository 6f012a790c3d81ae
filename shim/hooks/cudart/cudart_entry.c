/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/resolve/direct.h"

#include <driver_types.h>

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* A program may get the driver's functions from the runtime; cuda_runtime_api.h is left out because
 * what it declares differs between versions of CUDA. */

#define NEWEST 0x7fffffff /* any version: the runtime asked for the one it was made for */

static void *swap(const char *name, void *function, int version, uint64_t flags, const void *caller)
{
	const struct tfs_driver_answer answer = {.name = name,
		.version = version,
		.flags = flags,
		.function = function,
		.caller = caller,
		.ask = TFS_DIRECT(cuGetProcAddress_v2),
		.ask_old = TFS_DIRECT(cuGetProcAddress)};

	return tfs_driver_swap(&answer);
}

TFS_TWIN_HOOKS(cudaError_t, cudaGetDriverEntryPoint, _ptsz,
	(const char *name, void **out, unsigned long long flags, void *result),
	(name, out, flags, result))
{
	const cudaError_t status = TFS_TWIN_REAL(cudaGetDriverEntryPoint)(name, out, flags, result);

	if (status == cudaSuccess && *out)
		*out = swap(name, *out, NEWEST, flags == 0 && per_thread ? 2 : flags,
			__builtin_return_address(0));
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_TWIN_HOOKS(cudaError_t, cudaGetDriverEntryPointByVersion, _ptsz,
	(const char *name, void **out, unsigned version, unsigned long long flags, void *result),
	(name, out, version, flags, result))
{
	const cudaError_t status =
		TFS_TWIN_REAL(cudaGetDriverEntryPointByVersion)(name, out, version, flags, result);

	if (status == cudaSuccess && *out)
		*out = swap(name, *out, (int)version, flags == 0 && per_thread ? 2 : flags,
			__builtin_return_address(0));
	tfs_hook_plain(&frame, status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaGetDriverEntryPoint, property)                                                       \
	X(cudaGetDriverEntryPoint_ptsz, property)                                                  \
	X(cudaGetDriverEntryPointByVersion, property)                                              \
	X(cudaGetDriverEntryPointByVersion_ptsz, property)

FUNCTIONS(TFS_FUNCTION_ROW)
