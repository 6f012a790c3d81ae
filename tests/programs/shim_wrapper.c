/* SPDX-License-Identifier: MIT */
/*
 * A second preload, for tests: counts the calls that come by on their way to whatever is next, and
 * says so at the end. It may stand before or after the shim.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define WRAPPED __attribute__((visibility("default")))

static unsigned long copies;
static unsigned long allocations;

WRAPPED cudaError_t cudaMemcpy(
	void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind)
{
	static __typeof__(&cudaMemcpy) next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "cudaMemcpy");
	copies++;
	return next(target, source, bytes, kind);
}

WRAPPED cudaError_t cudaMalloc(void **out, size_t bytes)
{
	static __typeof__(&cudaMalloc) next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "cudaMalloc");
	allocations++;
	return next(out, bytes);
}

__attribute__((destructor)) static void tell(void)
{
	if (copies != 0 || allocations != 0)
		printf("wrapper: %lu copies, %lu allocations\n", copies, allocations);
}
