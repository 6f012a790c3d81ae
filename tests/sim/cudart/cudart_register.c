/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

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
/* Read when the first of its kernels or variables is wanted, as there can be thousands. */
struct image {
	void *code; /* first: handles point to the address of the code */
	struct tfsim_module *module;
};

/* The image is NULL once it is not needed or has gone; names live as long as it does. */
struct stub {
	const void *host;
	const char *name;
	struct image *image;
	struct tfsim_function *function;
};

struct variable {
	const void *host;
	const char *name;
	struct image *image;
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

static struct tfsim_module *module_of(struct image *image)
{
	if (image && !image->module && image->code)
		image->module = tfsim_module_load(image->code);
	return image ? image->module : NULL;
}

void **__cudaRegisterFatBinary(void *code)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->code = code;
	return &image->code;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Its kernels keep their names. */
void __cudaUnregisterFatBinary(void **handle)
{
	struct image *image = (struct image *)(void *)handle;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; image && i < stub_count; i++)
		if (stubs[i].image == image) {
			stubs[i].function = tfsim_function_intern(stubs[i].name);
			stubs[i].image = NULL;
		}
	for (size_t i = 0; image && i < variable_count; i++)
		if (variables[i].image == image)
			variables[i].image = NULL;
	pthread_mutex_unlock(&lock);
	if (image)
		tfsim_module_unload(image->module);
	free(image);
}

char __cudaInitModule(void **handle)
{
	return handle != NULL;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp_size)
{
	struct image *image = (struct image *)(void *)handle;
	struct stub *grown;

	(void)device, (void)thread_limit, (void)tid, (void)bid, (void)block;
	(void)grid, (void)warp_size;
	pthread_mutex_lock(&lock);
	grown = realloc(stubs, (stub_count + 1) * sizeof(*grown));
	if (grown) {
		stubs = grown;
		stubs[stub_count++] = (struct stub){host, name, image, NULL};
	}
	pthread_mutex_unlock(&lock);
}

static void add_variable(const struct variable *variable)
{
	struct variable *grown;

	pthread_mutex_lock(&lock);
	grown = realloc(variables, (variable_count + 1) * sizeof(*grown));
	if (grown) {
		variables = grown;
		variables[variable_count++] = *variable;
	}
	pthread_mutex_unlock(&lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
	size_t size, int constant, int global)
{
	struct variable variable = {
		.host = host, .name = name, .image = (struct image *)(void *)handle, .size = size};

	(void)device, (void)ext, (void)constant, (void)global;
	add_variable(&variable);
}

/* As in the code, or zero. */
static void initialise(void *memory, size_t size, struct image *image, const char *name)
{
	struct tfsim_module *module = module_of(image);
	size_t known = 0;
	const void *value = module ? tfsim_module_value(module, name, &known) : NULL;

	memset(memory, 0, size);
	if (value)
		memcpy(memory, value, known < size ? known : size);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
	size_t size, int constant, int global)
{
	void *memory;

	(void)device, (void)ext, (void)constant, (void)global;
	if (tfsim_managed_alloc(&memory, size, cudaMemAttachGlobal) != cudaSuccess)
		return;
	pthread_mutex_lock(&lock);
	initialise(memory, size, (struct image *)(void *)handle, name);
	pthread_mutex_unlock(&lock);
	*host = memory;
}

static struct tfsim_function *resolve(struct stub *stub)
{
	struct tfsim_module *module = module_of(stub->image);

	if (!stub->function && module)
		stub->function = tfsim_module_function(module, stub->name);
	if (!stub->function)
		stub->function = tfsim_function_intern(stub->name);
	stub->image = NULL;
	return stub->function;
}

/* The newest entry wins: a library may have been unloaded and another one loaded in its place. */
struct tfsim_function *cudart_stub(const void *symbol)
{
	struct tfsim_function *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = stub_count; i > 0 && !found; i--)
		if (stubs[i - 1].host == symbol)
			found = resolve(&stubs[i - 1]);
	pthread_mutex_unlock(&lock);
	return found;
}

struct tfsim_function *cudart_function(const void *symbol)
{
	struct tfsim_function *found = cudart_stub(symbol);

	return found ? found : tfsim_function_check(symbol);
}

static void *place(struct variable *v)
{
	void **slot = &v->device[tfsim_device_current()];

	if (!*slot && tfsim_device_alloc(slot, v->size) == cudaSuccess)
		initialise(*slot, v->size, v->image, v->name);
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
