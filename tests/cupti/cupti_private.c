/* SPDX-License-Identifier: MIT */
/* A library with a runtime of its own (driver_client_runtime.c), as NVIDIA's have: two memsets and
 * a copy. Under the name of one of theirs its lookups of the driver are left alone. Built with the
 * shared runtime, too. */
#include <cuda_runtime_api.h>

__attribute__((visibility("default"))) int private_work(void);

int private_work(void)
{
	static void *memory;
	static char host[64];

	if (!memory && cudaMalloc(&memory, sizeof(host)) != cudaSuccess)
		return 1;
	return cudaMemset(memory, 1, sizeof(host)) || cudaMemset(memory, 2, sizeof(host)) ||
	       cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost) || host[5] != 2;
}
