/* SPDX-License-Identifier: MIT */
#include "core_function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_graph.h"

#define BUCKETS 256
#define MAX_KERNELS 512
#define MAX_SHARED 232448 /* with the attribute set, as on sm_90 */
#define PLAIN_SHARED 49152

/* What a kernel without a CPU version is taken to do, per thread. */
#define SKIPPED_BYTES 12
#define SKIPPED_FLOPS 2

static struct tfsim_function *functions[BUCKETS];
static const struct tfsim_kernel *kernels[MAX_KERNELS];
static atomic_uint kernel_count;

static unsigned hash(const char *text)
{
	unsigned h = 5381;

	while (*text)
		h = h * 33 + (unsigned char)*text++;
	return h % BUCKETS;
}

struct tfsim_function *tfsim_function_intern(const char *name)
{
	struct tfsim_function **bucket = &functions[hash(name)], *f;

	pthread_mutex_lock(&sim.lock);
	for (f = *bucket; f && strcmp(f->name, name) != 0; f = f->next)
		continue;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (f)
			f->name = strdup(name);
		if (f && !f->name) {
			free(f);
			f = NULL;
		}
		if (f) {
			f->max_dynamic_shared = PLAIN_SHARED;
			f->next = *bucket;
			*bucket = f;
		}
	}
	pthread_mutex_unlock(&sim.lock);
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

/* A plain name stands for the mangled names of a function at file scope: _Z<length><name>... */
static bool names(const char *registered, const char *name)
{
	char prefix[16];
	size_t length = strlen(registered);
	int used;

	if (strcmp(registered, name) == 0)
		return true;
	used = snprintf(prefix, sizeof(prefix), "_Z%zu", length);
	if (strncmp(name, prefix, (size_t)used) == 0)
		return strncmp(name + used, registered, length) == 0;
	used = snprintf(prefix, sizeof(prefix), "_ZL%zu", length);
	return strncmp(name, prefix, (size_t)used) == 0 &&
	       strncmp(name + used, registered, length) == 0;
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

bool tfsim_function_param(
	const struct tfsim_function *function, size_t index, size_t *out_offset, size_t *out_size)
{
	const struct tfsim_kernel *kernel = sim_kernel_find(function->name);
	size_t offset = 0;

	if (function->sizes) {
		if (index >= function->param_count)
			return false;
		*out_offset = function->offsets[index];
		*out_size = function->sizes[index];
		return true;
	}
	if (!kernel || index >= kernel->param_count || index >= TFSIM_MAX_PARAMS)
		return false;
	for (size_t i = 0; i < index; i++)
		offset = align_up(offset, kernel->param_sizes[i]) + kernel->param_sizes[i];
	*out_offset = align_up(offset, kernel->param_sizes[index]);
	*out_size = kernel->param_sizes[index];
	return true;
}

static void run_kernel(void *args)
{
	struct sim_launch *launch = args;
	void *pointers[TFSIM_MAX_PARAMS];

	if (!launch->kernel || !launch->kernel->cpu) {
		tfsim_skipped(launch->function->name);
		return;
	}
	for (uint32_t i = 0; i < launch->param_count; i++)
		pointers[i] = launch->values + launch->offset[i];
	launch->kernel->cpu(launch->grid, launch->block, launch->shared_bytes, pointers);
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

/* Offsets in the copy are the parameter's own, so that an "extra" buffer has the same layout. */
static size_t lay_out(
	const struct tfsim_function *function, struct sim_launch *launch, uint32_t *sizes)
{
	size_t offset, size, end = 0;

	while (launch->param_count < TFSIM_MAX_PARAMS &&
		tfsim_function_param(function, launch->param_count, &offset, &size)) {
		launch->offset[launch->param_count] = (uint32_t)offset;
		sizes[launch->param_count++] = (uint32_t)size;
		end = offset + size;
	}
	return end;
}

static uint64_t cost(const struct tfsim_kernel *kernel, dim3 grid, dim3 block)
{
	double threads = (double)grid.x * grid.y * grid.z * block.x * block.y * block.z;
	double bytes = kernel ? kernel->bytes_per_thread : SKIPPED_BYTES;
	double flops = kernel ? kernel->flops_per_thread : SKIPPED_FLOPS;

	return tfsim_cost_kernel((uint64_t)(threads * bytes), (uint64_t)(threads * flops));
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
	};
	uint32_t sizes[TFSIM_MAX_PARAMS];
	struct sim_launch *launch;
	size_t end;

	if (error != cudaSuccess)
		return error;
	end = lay_out(function, &head, sizes);
	if (head.param_count && !args)
		return cudaErrorInvalidValue;
	launch = malloc(sizeof(*launch) + end);
	if (!launch)
		return cudaErrorMemoryAllocation;
	*launch = head;
	for (uint32_t i = 0; i < head.param_count; i++)
		memcpy(launch->values + head.offset[i], args[i], sizes[i]);
	*out_work = (struct tfsim_work){
		.kind = TFSIM_KERNEL,
		.name = function->name,
		.run = run_kernel,
		.args = launch,
		.args_size = sizeof(*launch) + end,
		.grid = grid,
		.block = block,
		.shared_bytes = (uint32_t)shared_bytes,
		.cost_ns = cost(head.kernel, grid, block),
	};
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
		for (uint32_t i = 0; i < launch->param_count; i++)
			launch->pointers[i] = launch->values + launch->offset[i];
		*out_function = launch->function;
		*out_grid = launch->grid;
		*out_block = launch->block;
		*out_shared = launch->shared_bytes;
		*out_args = launch->pointers;
	} else {
		error = cudaErrorInvalidValue;
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}
