/* SPDX-License-Identifier: MIT */
/* For rewrite_memset: a library that could write to memory by a function without a hook. */
#include <cuda_runtime_api.h>

int plugin_clear(void *memory);

int plugin_clear(void *memory)
{
	return (int)cudaMemset2D(memory, 16, 0, 16, 1);
}
