/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <cupti_runtime_cbid.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_private.h"

/* More than this of a workspace is soiled at both ends only: it would be committed. */
#define SOILED_LIMIT ((size_t)64 << 20)
/* No small number, no offset into anything, and as a float far from what nets compute with. */
#define SOIL 0x5a
#define PAGE ((size_t)4096)

static struct part {
	const char *name;
	int device;
	struct tfsim_block block;
	struct part *next;
} * loaded;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t take_nowhere(size_t size, struct tfsim_block *out_block)
{
	void *address = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);

	if (!address)
		return cudaErrorMemoryAllocation;
	*out_block = (struct tfsim_block){.address = address, .size = size};
	return cudaSuccess;
}

static cudaError_t take(size_t size, struct tfsim_block *out_block)
{
	const uint64_t start_ns = tfsim_now_ns();
	struct tfsim_range range;
	cudaError_t error = sim_alloc(size, NULL, &range);

	if (error != cudaSuccess)
		return error;
	if (!tfsim_memory_find(range.base, &range))
		return cudaErrorMemoryAllocation;
	sim_host_busy(start_ns, sim_alloc_ns(size));
	sim_emit_memory(1, &range);
	*out_block = (struct tfsim_block){.address = range.base, .size = size, .id = range.id};
	return cudaSuccess;
}

cudaError_t tfsim_library_alloc(size_t size, struct tfsim_block *out_block)
{
	cudaError_t error = sim_enter();
	struct tfsim_api api;

	if (error != cudaSuccess)
		return error;
	if (sim_is_naive(SIM_NAIVE_LIBRARY))
		return take_nowhere(size, out_block);
	tfsim_api_enter(&api, TFSIM_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020,
		"cudaMalloc", NULL);
	error = take(size ? size : 1, out_block);
	tfsim_api_exit(&api, (int)error);
	return error;
}

static bool find(const struct tfsim_block *block, struct tfsim_range *out_range)
{
	return tfsim_memory_find(block->address, out_range) && out_range->id == block->id;
}

static void give_back(const struct tfsim_block *block)
{
	struct tfsim_range range;

	if (!find(block, &range))
		return;
	sim_wait_device(range.device);
	sim_host_busy(tfsim_now_ns(), sim_free_ns(block->size));
	sim_emit_memory(2, &range);
	tfsim_device_free(block->address);
}

void tfsim_library_free(struct tfsim_block *block)
{
	struct tfsim_api api;

	if (!block->address)
		return;
	if (block->id == 0) {
		tfsim_device_synchronize();
		free(block->address);
	} else {
		tfsim_api_enter(&api, TFSIM_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020,
			"cudaFree", NULL);
		give_back(block);
		tfsim_api_exit(&api, (int)cudaSuccess);
	}
	*block = (struct tfsim_block){NULL, 0, 0};
}

static struct part *find_part(const char *name, int device)
{
	struct part *part = loaded;

	while (part && (part->device != device || strcmp(part->name, name) != 0))
		part = part->next;
	return part;
}

static cudaError_t load(const char *name, size_t size)
{
	struct part *part = find_part(name, sim_self.device);
	struct tfsim_block block;
	struct tfsim_range range;
	cudaError_t error;

	if (part && (part->block.id == 0 || find(&part->block, &range)))
		return cudaSuccess;
	error = tfsim_library_alloc(size, &block);
	if (error != cudaSuccess)
		return error;
	if (!part) {
		part = calloc(1, sizeof(*part));
		if (!part) {
			tfsim_library_free(&block);
			return cudaErrorMemoryAllocation;
		}
		part->name = name;
		part->device = sim_self.device;
		part->next = loaded;
		loaded = part;
	}
	part->block = block;
	return cudaSuccess;
}

cudaError_t tfsim_library_load(const char *name, size_t size)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&loading);
	error = load(name, size);
	pthread_mutex_unlock(&loading);
	return error;
}

bool tfsim_workspace_used(void)
{
	sim_enter();
	return !sim_is_naive(SIM_NAIVE_WORKSPACE);
}

void tfsim_workspace_enter(void *workspace, size_t size)
{
	if (tfsim_workspace_used())
		sim_poison(workspace, size);
}

void tfsim_workspace_leave(void *workspace, size_t size)
{
	const size_t end = size <= SOILED_LIMIT ? size : SOILED_LIMIT / 2;

	if (!workspace || !tfsim_workspace_used())
		return;
	memset(workspace, SOIL, end);
	if (end < size)
		memset((char *)workspace + size - end, SOIL, end);
}
