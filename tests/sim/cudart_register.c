/* SPDX-License-Identifier: MIT */
#include "cudart.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What programs built by nvcc register before main(). Several threads may load such objects, so
 * one lock guards the tables; entries are never removed, since addresses may be seen again.
 */
struct stub {
	const void *host;
	struct tfsim_function *function;
};

struct variable {
	const void *host;
	size_t size;
	void *device[8];
};

struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};

#define DEPTH 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stub *stubs;
static struct variable *variables;
static size_t stub_count, variable_count;
static __thread struct configuration pending[DEPTH];
static __thread unsigned depth;

/* The real runtime opens the driver in its first call. Here it is opened earlier, where no other
 * thread can be holding the loader's lock. */
__attribute__((constructor)) static void open_driver(void)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info self;

	if (!dladdr((void *)open_driver, &self) || !(slash = strrchr(self.dli_fname, '/')))
		return;
	snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)(slash - self.dli_fname),
		self.dli_fname);
	dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void **__cudaRegisterFatBinary(void *image)
{
	void **handle = malloc(sizeof(*handle));

	if (handle)
		*handle = image;
	return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	free(handle);
}

char __cudaInitModule(void **handle)
{
	return handle != NULL;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp_size)
{
	struct tfsim_function *function = tfsim_function_intern(name);
	struct stub *grown;

	(void)handle, (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block;
	(void)grid, (void)warp_size;
	pthread_mutex_lock(&lock);
	grown = realloc(stubs, (stub_count + 1) * sizeof(*grown));
	if (grown) {
		stubs = grown;
		stubs[stub_count++] = (struct stub){host, function};
	}
	pthread_mutex_unlock(&lock);
}

static void add_variable(const void *host, size_t size)
{
	struct variable *grown;

	pthread_mutex_lock(&lock);
	grown = realloc(variables, (variable_count + 1) * sizeof(*grown));
	if (grown) {
		variables = grown;
		memset(&variables[variable_count], 0, sizeof(*grown));
		variables[variable_count].host = host;
		variables[variable_count++].size = size;
	}
	pthread_mutex_unlock(&lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
	size_t size, int constant, int global)
{
	(void)handle, (void)device, (void)name, (void)ext, (void)constant, (void)global;
	add_variable(host, size);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
	size_t size, int constant, int global)
{
	void *memory;

	(void)handle, (void)device, (void)name, (void)ext, (void)constant, (void)global;
	if (tfsim_managed_alloc(&memory, size, cudaMemAttachGlobal) != cudaSuccess)
		return;
	memset(memory, 0, size);
	*host = memory;
}

/* The newest entry wins: a library may have been unloaded and another one loaded in its place. */
struct tfsim_function *cudart_function(const void *symbol)
{
	struct tfsim_function *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = stub_count; i > 0 && !found; i--)
		if (stubs[i - 1].host == symbol)
			found = stubs[i - 1].function;
	pthread_mutex_unlock(&lock);
	return found ? found : tfsim_function_check(symbol);
}

/* The initial value is in the image, which is not read: zero instead. */
static void *place(struct variable *v)
{
	void **slot = &v->device[tfsim_device_current()];

	if (!*slot && tfsim_device_alloc(slot, v->size) == cudaSuccess)
		memset(*slot, 0, v->size);
	return *slot;
}

void *cudart_symbol(const void *symbol, size_t *out_size)
{
	void *address = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = variable_count; i > 0 && !address; i--)
		if (variables[i - 1].host == symbol) {
			*out_size = variables[i - 1].size;
			address = place(&variables[i - 1]);
		}
	pthread_mutex_unlock(&lock);
	return address;
}

unsigned __cudaPushCallConfiguration(
	dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
	if (depth == DEPTH)
		return 1;
	pending[depth++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	const struct configuration *c;

	if (depth == 0)
		return tfsim_last_error_set(cudaErrorMissingConfiguration);
	c = &pending[--depth];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(cudaStream_t *)stream = c->stream;
	return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry)
{
	struct tfsim_function *function = cudart_function(entry);

	if (!function)
		return tfsim_last_error_set(cudaErrorInvalidDeviceFunction);
	*kernel = (cudaKernel_t)function;
	return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
	size_t size;
	ENTER(cudaGetSymbolAddress_v3020, address, symbol);

	if (!address)
		return LEAVE(cudaErrorInvalidValue);
	*address = cudart_symbol(symbol, &size);
	return LEAVE(*address ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	ENTER(cudaGetSymbolSize_v3020, size, symbol);
	if (!size)
		return LEAVE(cudaErrorInvalidValue);
	return LEAVE(cudart_symbol(symbol, size) ? cudaSuccess : cudaErrorInvalidSymbol);
}
