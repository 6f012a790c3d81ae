/* SPDX-License-Identifier: MIT */
/*
 * A second preload, for tests: counts the calls that come by on their way to whatever is next, and
 * says so at the end. It may stand before or after the shim. With BY_HANDLE it opens the runtime
 * itself, and asks that for what is next.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define WRAPPED __attribute__((visibility("default")))

#ifdef BY_HANDLE
#define NEXT(name) dlsym(dlopen("libcudart.so.13", RTLD_NOW), name)
#else
#define NEXT(name) dlsym(RTLD_NEXT, name)
#endif

static __typeof__(&cudaMalloc) next_malloc;
static unsigned long copies;
static unsigned long allocations;

WRAPPED cudaError_t cudaMemcpy(
	void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind)
{
	static __typeof__(&cudaMemcpy) next;

	if (!next)
		next = (__typeof__(next))NEXT("cudaMemcpy");
	copies++;
	return next(target, source, bytes, kind);
}

WRAPPED cudaError_t cudaMalloc(void **out, size_t bytes)
{
	allocations++;
	return next_malloc(out, bytes);
}

__attribute__((constructor)) static void find(void)
{
	next_malloc = (__typeof__(next_malloc))NEXT("cudaMalloc");
}

__attribute__((destructor)) static void tell(void)
{
	if (copies != 0 || allocations != 0)
		printf("wrapper: %lu copies, %lu allocations\n", copies, allocations);
}
