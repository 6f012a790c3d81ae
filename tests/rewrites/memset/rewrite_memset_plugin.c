/* SPDX-License-Identifier: MIT */
/* For rewrite_memset: a library that could write to memory by a function without a hook. */
#include <cuda_runtime_api.h>

int plugin_map(struct cudaGraphicsResource **resource);

int plugin_map(struct cudaGraphicsResource **resource)
{
	return (int)cudaGraphicsMapResources(1, resource, NULL);
}
