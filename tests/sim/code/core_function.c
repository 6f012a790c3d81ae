/* SPDX-License-Identifier: MIT */
#include "tests/sim/code/core_function.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/graph/core_graph.h"

#define BUCKETS 256
#define MAX_KERNELS 512
#define MAX_SHARED 232448 /* with the attribute set, as on sm_90 */
#define PLAIN_SHARED 49152

/* What a kernel without a CPU version is taken to do, per thread. */
#define SKIPPED_BYTES 12
#define SKIPPED_FLOPS 2

static struct tfsim_function *functions[BUCKETS];
static const struct tfsim_kernel *kernels[MAX_KERNELS];
static _Atomic uint32_t declared[MAX_KERNELS]; /* bytes that a block of each shares */
static atomic_uint kernel_count;

static unsigned hash(const char *text)
{
	unsigned h = 5381;

	while (*text)
		h = h * 33 + (unsigned char)*text++;
	return h % BUCKETS;
}

/* The lock is held. */
static struct tfsim_function *add(struct tfsim_function **bucket, const char *name)
{
	struct tfsim_function *f = calloc(1, sizeof(*f));

	if (f)
		f->name = strdup(name);
	if (!f || !f->name) {
		free(f);
		return NULL;
	}
	f->max_dynamic_shared = PLAIN_SHARED;
	f->next = *bucket;
	*bucket = f;
	return f;
}

struct tfsim_function *tfsim_function_intern(const char *name)
{
	struct tfsim_function **bucket = &functions[hash(name)], *f;

	pthread_mutex_lock(&sim.lock);
	for (f = *bucket; f && strcmp(f->name, name) != 0; f = f->next)
		continue;
	if (!f)
		f = add(bucket, name);
	pthread_mutex_unlock(&sim.lock);
	return f;
}

static bool same(const struct sim_params *a, const struct sim_params *b)
{
	return a->count == b->count && memcmp(a->at, b->at, a->count * sizeof(a->at[0])) == 0;
}

struct tfsim_function *sim_function_laid_out(const char *name, struct sim_params *params)
{
	struct tfsim_function **bucket = &functions[hash(name)], *f;
	const struct sim_params *other = NULL;

	if (!params)
		return tfsim_function_intern(name);
	pthread_mutex_lock(&sim.lock);
	for (f = *bucket; f; f = f->next) {
		other = atomic_load(&f->params);
		if (strcmp(f->name, name) == 0 && (!other || same(other, params)))
			break;
	}
	if (!f) {
		f = add(bucket, name);
		other = NULL;
	}
	if (f && !other)
		atomic_store(&f->params, params);
	pthread_mutex_unlock(&sim.lock);
	if (!f || other)
		free(params);
	return f;
}

struct tfsim_function *tfsim_function_check(const void *handle)
{
	struct tfsim_function *found = NULL;

	pthread_mutex_lock(&sim.lock);
	for (unsigned b = 0; b < BUCKETS && !found; b++)
		for (struct tfsim_function *f = functions[b]; f && !found; f = f->next)
			found = f == handle ? f : NULL;
	pthread_mutex_unlock(&sim.lock);
	return found;
}

const char *tfsim_function_name(const struct tfsim_function *function)
{
	return function->name;
}

cudaError_t tfsim_function_shared(struct tfsim_function *function, int bytes)
{
	if (bytes < 0 || bytes > MAX_SHARED)
		return cudaErrorInvalidValue;
	function->max_dynamic_shared = bytes > PLAIN_SHARED ? bytes : PLAIN_SHARED;
	return cudaSuccess;
}

TFSIM_API int tfsim_kernel_register(const struct tfsim_kernel *kernel)
{
	unsigned at = atomic_fetch_add(&kernel_count, 1);

	if (at >= MAX_KERNELS) {
		atomic_store(&kernel_count, MAX_KERNELS);
		return 0;
	}
	kernels[at] = kernel;
	return 1;
}

TFSIM_API void tfsim_kernel_shares(const struct tfsim_kernel *kernel, uint32_t bytes)
{
	for (unsigned i = 0; i < MAX_KERNELS; i++)
		if (kernels[i] == kernel)
			atomic_store(&declared[i], bytes);
}

static uint32_t declared_of(const struct tfsim_kernel *kernel)
{
	uint32_t bytes = 0;

	for (unsigned i = 0; kernel && i < MAX_KERNELS; i++)
		bytes = kernels[i] == kernel ? atomic_load(&declared[i]) : bytes;
	return bytes;
}

/* A plain name stands for the mangled names of a function at file scope: _Z<length><name>... */
static bool names(const char *registered, const char *name)
{
	size_t length;
	char *rest;

	if (strcmp(registered, name) == 0)
		return true;
	if (strncmp(name, "_Z", 2) != 0)
		return false;
	name += name[2] == 'L' ? 3 : 2;
	if (*name < '1' || *name > '9')
		return false;
	length = strtoul(name, &rest, 10);
	return length == strlen(registered) && strncmp(rest, registered, length) == 0;
}

const struct tfsim_kernel *sim_kernel_find(const char *name)
{
	unsigned count = atomic_load(&kernel_count);

	for (unsigned i = 0; i < count && i < MAX_KERNELS; i++)
		if (kernels[i] && names(kernels[i]->name, name))
			return kernels[i];
	return NULL;
}

static size_t align_up(size_t offset, uint32_t size)
{
	size_t alignment = size >= 16 ? 16 : size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;

	if (size % alignment)
		alignment = size % 4 == 0 ? 4 : 1;
	return (offset + alignment - 1) & ~(alignment - 1);
}

/* As the CPU version was registered with; natural alignment is a guess. */
static struct sim_params *registered_params(const struct tfsim_kernel *kernel)
{
	uint32_t count =
		kernel->param_count < TFSIM_MAX_PARAMS ? kernel->param_count : TFSIM_MAX_PARAMS;
	struct sim_params *params = calloc(1, sizeof(*params) + count * sizeof(params->at[0]));

	for (uint32_t i = 0; params && i < count; i++) {
		uint32_t size = kernel->param_sizes[i];

		params->at[i].offset = (uint32_t)align_up(params->bytes, size);
		params->at[i].size = size;
		params->bytes = params->at[i].offset + size;
	}
	if (params)
		params->count = count;
	return params;
}

/* Code tells; else a CPU version does. NULL when neither is there. */
static const struct sim_params *params_of(struct tfsim_function *function)
{
	const struct sim_params *params = atomic_load(&function->params), *none = NULL;
	const struct tfsim_kernel *kernel = params ? NULL : sim_kernel_find(function->name);
	struct sim_params *made = kernel ? registered_params(kernel) : NULL;

	if (!made)
		return params;
	if (atomic_compare_exchange_strong(&function->params, &none, made))
		return made;
	free(made);
	return none;
}

bool tfsim_function_param(
	struct tfsim_function *function, size_t index, size_t *out_offset, size_t *out_size)
{
	const struct sim_params *params = params_of(function);

	if (!params || index >= params->count)
		return false;
	*out_offset = params->at[index].offset;
	*out_size = params->at[index].size;
	return true;
}

/* Of the copied arguments, up to where the pointers to them begin. */
static size_t values_bytes(const struct sim_params *params)
{
	return params ? (params->bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *) : 0;
}

static void **pointers(struct sim_launch *launch)
{
	return (void **)(void *)(launch->values + values_bytes(launch->params));
}

static void point(struct sim_launch *launch, void **out_pointers)
{
	for (uint32_t i = 0; launch->params && i < launch->params->count; i++)
		out_pointers[i] = launch->values + launch->params->at[i].offset;
}

/* A launch of a graph may run in several streams at once, so its own pointers are not for this. */
static void run_kernel(void *args)
{
	struct sim_launch *launch = args;
	void **list;

	if (!launch->kernel || !launch->kernel->cpu) {
		tfsim_skipped(launch->function->name);
		return;
	}
	list = calloc(launch->params ? launch->params->count + 1 : 1, sizeof(*list));
	if (!list) {
		tfsim_fault(cudaErrorMemoryAllocation);
		return;
	}
	point(launch, list);
	launch->kernel->cpu(launch->grid, launch->block, launch->shared_bytes, list);
	free(list);
}

static cudaError_t check_shape(const struct tfsim_function *f, dim3 grid, dim3 block, size_t shared)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	if (threads == 0 || threads > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64)
		return cudaErrorInvalidConfiguration;
	if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535 ||
		grid.z > 65535)
		return cudaErrorInvalidConfiguration;
	return shared > (size_t)f->max_dynamic_shared ? cudaErrorInvalidValue : cudaSuccess;
}

static uint64_t cost(const struct tfsim_kernel *kernel, dim3 grid, dim3 block)
{
	double threads = (double)grid.x * grid.y * grid.z * block.x * block.y * block.z;
	double bytes = kernel ? kernel->bytes_per_thread : SKIPPED_BYTES;
	double flops = kernel ? kernel->flops_per_thread : SKIPPED_FLOPS;

	return tfsim_cost_kernel((uint64_t)(threads * bytes), (uint64_t)(threads * flops));
}

/* Managed memory that a kernel is given moves to the device. Of structs nothing is known. */
static void name_managed(struct tfsim_work *work, const struct sim_launch *launch)
{
	const uint32_t count = launch->params ? launch->params->count : 0;
	struct tfsim_range range;
	unsigned named = 0;
	const void *pointer;

	for (uint32_t i = 0; i < count && named < TFSIM_SPANS; i++) {
		if (launch->params->at[i].size != sizeof(pointer))
			continue;
		memcpy(&pointer, launch->values + launch->params->at[i].offset, sizeof(pointer));
		if (tfsim_memory_find(pointer, &range) && range.kind == TFSIM_MANAGED)
			work->spans[named++] = (struct tfsim_span){range.base, range.size, false};
	}
}

cudaError_t tfsim_describe_kernel(struct tfsim_function *function, dim3 grid, dim3 block,
	size_t shared_bytes, void **args, struct tfsim_work *out_work)
{
	cudaError_t error = check_shape(function, grid, block, shared_bytes);
	struct sim_launch head = {
		.function = function,
		.grid = grid,
		.block = block,
		.shared_bytes = shared_bytes,
		.kernel = sim_kernel_find(function->name),
		.params = params_of(function),
	};
	uint32_t count = head.params ? head.params->count : 0;
	size_t size = sizeof(head) + values_bytes(head.params) + count * sizeof(void *);
	struct sim_launch *launch;

	if (error != cudaSuccess)
		return error;
	if (count && !args)
		return cudaErrorInvalidValue;
	launch = malloc(size);
	if (!launch)
		return cudaErrorMemoryAllocation;
	*launch = head;
	for (uint32_t i = 0; i < count; i++)
		memcpy(launch->values + head.params->at[i].offset, args[i],
			head.params->at[i].size);
	*out_work = (struct tfsim_work){
		.kind = TFSIM_KERNEL,
		.name = function->name,
		.run = run_kernel,
		.args = launch,
		.args_size = size,
		.grid = grid,
		.block = block,
		.shared_bytes = (uint32_t)shared_bytes,
		.static_shared = declared_of(head.kernel),
		.cost_ns = cost(head.kernel, grid, block),
	};
	name_managed(out_work, launch);
	return cudaSuccess;
}

cudaError_t tfsim_launch(struct tfsim_function *function, dim3 grid, dim3 block,
	size_t shared_bytes, cudaStream_t stream, void **args)
{
	cudaError_t error = sim_enter();
	struct tfsim_work work;

	if (error == cudaSuccess && tfsim_stream_device(stream) != sim_self.device)
		error = cudaErrorInvalidResourceHandle;
	if (error == cudaSuccess)
		error = tfsim_describe_kernel(function, grid, block, shared_bytes, args, &work);
	if (error != cudaSuccess)
		return error;
	if (sim_self.api)
		sim_self.api->symbol = function->name;
	error = tfsim_enqueue(stream, &work);
	free((void *)(uintptr_t)work.args);
	return error;
}

cudaError_t tfsim_node_kernel(cudaGraphNode_t node, struct tfsim_function **out_function,
	dim3 *out_grid, dim3 *out_block, size_t *out_shared, void ***out_args)
{
	cudaError_t error = sim_enter();
	struct sim_launch *launch;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (sim_node_known(node) && node->payload && node->payload->work.run == run_kernel) {
		launch = node->payload->args;
		point(launch, pointers(launch));
		*out_function = launch->function;
		*out_grid = launch->grid;
		*out_block = launch->block;
		*out_shared = launch->shared_bytes;
		*out_args = pointers(launch);
	} else {
		error = cudaErrorInvalidValue;
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}
