/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "tests/sim/core/core_private.h"

/* Smaller ones lie in memory that was mapped before. */
#define SMALL ((size_t)1 << 20)

static size_t pages(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

static cudaError_t alloc_locked(
	int device, size_t size, struct CUmemPoolHandle_st *pool, struct tfsim_range *out_range)
{
	struct tfsim_range range = {
		.size = size,
		.kind = TFSIM_DEVICE,
		.device = device,
		.context = pool ? 0 : sim_self.context,
		.pool = pool,
		.from_pool = pool != NULL,
	};

	if (size > sim_arena_left(device, pool))
		return cudaErrorMemoryAllocation;
	range.base = sim_arena_alloc(device, size);
	if (!range.base)
		return cudaErrorMemoryAllocation;
	if (!sim_range_add(&range)) {
		sim_arena_free(device, range.base, size);
		return cudaErrorMemoryAllocation;
	}
	sim.device[device].used = true;
	*out_range = range;
	return cudaSuccess;
}

cudaError_t sim_alloc(size_t size, struct CUmemPoolHandle_st *pool, struct tfsim_range *out_range)
{
	int device = pool ? pool->device : sim_self.device;
	cudaError_t error;

	pthread_mutex_lock(&sim.lock);
	sim_shared_begin();
	error = alloc_locked(device, size, pool, out_range);
	sim_shared_end(device);
	pthread_mutex_unlock(&sim.lock);
	if (error == cudaSuccess)
		sim_poison(out_range->base, size);
	return error;
}

/* Whatever the range was, its memory goes where it came from. */
void sim_range_release(const struct tfsim_range *range)
{
	if (range->kind == TFSIM_DEVICE) {
		sim_poison(range->base, range->size);
		sim_arena_free(range->device, range->base, range->size);
		sim_shared_tell(range->device);
	} else if (!range->registered) {
		munmap(range->base, pages(range->size));
	}
}

cudaError_t tfsim_device_alloc(void **out_address, size_t size)
{
	cudaError_t error = sim_enter();
	struct tfsim_range range;

	if (error != cudaSuccess)
		return error;
	error = sim_alloc(size ? size : 1, NULL, &range);
	if (error == cudaSuccess)
		*out_address = range.base;
	return error;
}

static bool is_device_kind(const struct tfsim_range *range)
{
	return range->kind == TFSIM_DEVICE || range->kind == TFSIM_MANAGED;
}

/* The allocation that starts at this address, if it is of the right sort. */
static bool find_base(const void *address, bool device, struct tfsim_range *out_range)
{
	return tfsim_memory_find(address, out_range) && out_range->base == address &&
	       !out_range->registered && is_device_kind(out_range) == device;
}

static void give_back(void *address)
{
	struct tfsim_range range;

	pthread_mutex_lock(&sim.lock);
	if (sim_range_remove(address, &range))
		sim_range_release(&range);
	pthread_mutex_unlock(&sim.lock);
}

cudaError_t tfsim_device_free(void *address)
{
	struct tfsim_range range;

	if (!address)
		return cudaSuccess;
	if (!find_base(address, true, &range))
		return cudaErrorInvalidValue;
	give_back(address);
	return cudaSuccess;
}

static cudaError_t unsafe_entry(void)
{
	cudaError_t error = sim_enter();

	return error == cudaSuccess ? tfsim_capture_unsafe() : error;
}

uint64_t sim_alloc_ns(uint64_t bytes)
{
	return sim_sized_ns(bytes < SMALL ? &sim.profile->alloc_small : &sim.profile->alloc, bytes);
}

uint64_t sim_free_ns(uint64_t bytes)
{
	return sim_sized_ns(bytes < SMALL ? &sim.profile->free_small : &sim.profile->free, bytes);
}

cudaError_t tfsim_malloc(void **out_address, size_t size)
{
	const uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = unsafe_entry();
	struct tfsim_range range;

	if (error != cudaSuccess)
		return error;
	if (!out_address)
		return cudaErrorInvalidValue;
	if (size == 0) {
		*out_address = NULL;
		return cudaSuccess;
	}
	error = sim_alloc(size, NULL, &range);
	if (error != cudaSuccess)
		return error;
	sim_host_busy(start_ns, sim_alloc_ns(size));
	sim_emit_memory(1, &range);
	*out_address = range.base;
	return cudaSuccess;
}

/* "May perform implicit synchronization": hardware does, and programs rely on it. */
cudaError_t tfsim_free(void *address)
{
	cudaError_t error = sim_enter();
	struct tfsim_range range;

	if (error != cudaSuccess || !address)
		return error;
	error = tfsim_capture_unsafe();
	if (error != cudaSuccess)
		return error;
	if (!find_base(address, true, &range))
		return cudaErrorInvalidValue;
	if (range.from_pool)
		sim_pool_account(range.pool, -(int64_t)sim_arena_takes(range.size));
	else if (!sim_is_naive(SIM_NAIVE_FREE))
		sim_wait_device(range.device);
	sim_host_busy(tfsim_now_ns(), sim_free_ns(range.size));
	sim_emit_memory(2, &range);
	give_back(address);
	return sim_enter();
}

static cudaError_t map(void **out_address, size_t size, enum tfsim_memory kind, unsigned flags)
{
	struct tfsim_range range = {
		.size = size,
		.kind = kind,
		.device = sim_self.device,
		.context = sim_self.context,
		.flags = flags,
	};
	bool added;

	range.base = kind == TFSIM_MANAGED ? sim_managed_map(pages(size))
					   : mmap(NULL, pages(size), PROT_READ | PROT_WRITE,
						     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (range.base == MAP_FAILED)
		return cudaErrorMemoryAllocation;
	pthread_mutex_lock(&sim.lock);
	added = sim_range_add(&range);
	pthread_mutex_unlock(&sim.lock);
	if (!added) {
		munmap(range.base, pages(size));
		return cudaErrorMemoryAllocation;
	}
	sim_poison(range.base, size);
	sim_emit_memory(1, &range);
	*out_address = range.base;
	return cudaSuccess;
}

cudaError_t tfsim_host_alloc(void **out_address, size_t size, unsigned flags)
{
	const uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = unsafe_entry();

	if (error != cudaSuccess)
		return error;
	if (!out_address ||
		flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
		return cudaErrorInvalidValue;
	if (size == 0) {
		*out_address = NULL;
		return cudaSuccess;
	}
	if (size > sim.pinned)
		return cudaErrorMemoryAllocation;
	error = map(out_address, size, TFSIM_PINNED, flags);
	if (error == cudaSuccess)
		sim_host_busy(start_ns, sim_sized_ns(&sim.profile->pin, size));
	return error;
}

static void wait_everything(void)
{
	for (int i = 0; i < sim.device_count; i++)
		sim_wait_device(i);
}

cudaError_t tfsim_host_free(void *address)
{
	cudaError_t error = sim_enter();
	struct tfsim_range range;

	if (error != cudaSuccess || !address)
		return error;
	error = tfsim_capture_unsafe();
	if (error != cudaSuccess)
		return error;
	if (!find_base(address, false, &range))
		return cudaErrorInvalidValue;
	wait_everything();
	sim_host_busy(tfsim_now_ns(), sim_sized_ns(&sim.profile->unpin, range.size));
	sim_emit_memory(2, &range);
	give_back(address);
	return sim_enter();
}

cudaError_t tfsim_managed_alloc(void **out_address, size_t size, unsigned flags)
{
	cudaError_t error = unsafe_entry();

	if (error != cudaSuccess)
		return error;
	if (!out_address || size == 0 ||
		(flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
		return cudaErrorInvalidValue;
	return map(out_address, size, TFSIM_MANAGED, flags);
}

cudaError_t tfsim_host_register(void *address, size_t size, unsigned flags)
{
	const uint64_t start_ns = tfsim_now_ns();
	struct tfsim_range range = {
		.base = address,
		.size = size,
		.kind = TFSIM_PINNED,
		.device = sim_self.device,
		.context = sim_self.context,
		.flags = flags,
		.registered = true,
	};
	cudaError_t error = unsafe_entry();

	if (error != cudaSuccess)
		return error;
	if (!address || size == 0 || flags > 15)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	if (sim_range_overlaps(address, size))
		error = cudaErrorHostMemoryAlreadyRegistered;
	else if (!sim_range_add(&range))
		error = cudaErrorMemoryAllocation;
	pthread_mutex_unlock(&sim.lock);
	if (error == cudaSuccess)
		sim_host_busy(start_ns, sim_sized_ns(&sim.profile->enroll, size));
	return error;
}

cudaError_t tfsim_host_unregister(void *address)
{
	cudaError_t error = unsafe_entry();
	struct tfsim_range range;

	if (error != cudaSuccess)
		return error;
	if (!address)
		return cudaErrorInvalidValue;
	if (!tfsim_memory_find(address, &range) || range.base != address || !range.registered)
		return cudaErrorHostMemoryNotRegistered;
	wait_everything();
	sim_host_busy(tfsim_now_ns(), sim_sized_ns(&sim.profile->expel, range.size));
	pthread_mutex_lock(&sim.lock);
	sim_range_remove(address, &range);
	pthread_mutex_unlock(&sim.lock);
	return sim_enter();
}

cudaError_t tfsim_memory_info(size_t *out_free, size_t *out_total)
{
	struct sim_device *device = &sim.device[sim_self.device];
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	if (out_free)
		*out_free = sim_arena_left(sim_self.device, NULL);
	if (out_total)
		*out_total = device->arena_size;
	pthread_mutex_unlock(&sim.lock);
	return cudaSuccess;
}
