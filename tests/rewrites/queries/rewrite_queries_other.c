/* SPDX-License-Identifier: MIT */
/* Passes for a second runtime. */
#include <cuda_runtime_api.h>

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION - 1000;
	return cudaSuccess;
}
