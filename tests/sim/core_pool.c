/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <stdlib.h>

#include "core_private.h"

#define CHUNK ((uint64_t)32 << 20)

struct release {
	void *address;
};

void sim_pool_init(struct CUmemPoolHandle_st *pool, int device)
{
	pool->device = device;
	pool->attr[cudaMemPoolReuseFollowEventDependencies] = 1;
	pool->attr[cudaMemPoolReuseAllowOpportunistic] = 1;
	pool->attr[cudaMemPoolReuseAllowInternalDependencies] = 1;
}

/* Accounting only: every allocation comes from the device's arena and goes back to it. */
void sim_pool_account(struct CUmemPoolHandle_st *pool, int64_t change)
{
	uint64_t *used, *reserved;

	if (!pool)
		return;
	pthread_mutex_lock(&sim.lock);
	used = &pool->attr[cudaMemPoolAttrUsedMemCurrent];
	reserved = &pool->attr[cudaMemPoolAttrReservedMemCurrent];
	*used += (uint64_t)change;
	if (*used > *reserved)
		*reserved = (*used + CHUNK - 1) / CHUNK * CHUNK;
	if (*used > pool->attr[cudaMemPoolAttrUsedMemHigh])
		pool->attr[cudaMemPoolAttrUsedMemHigh] = *used;
	if (*reserved > pool->attr[cudaMemPoolAttrReservedMemHigh])
		pool->attr[cudaMemPoolAttrReservedMemHigh] = *reserved;
	pthread_mutex_unlock(&sim.lock);
}

static void release(void *args)
{
	struct release *r = args;
	struct tfsim_range range;

	pthread_mutex_lock(&sim.lock);
	if (sim_range_remove(r->address, &range))
		sim_range_release(&range);
	pthread_mutex_unlock(&sim.lock);
}

/* When there is no room, what was freed earlier in this stream may be used again. */
static cudaError_t allocate(size_t size, struct CUmemPoolHandle_st *pool, cudaStream_t stream,
	struct tfsim_range *out_range)
{
	cudaError_t error = sim_alloc(size, pool, out_range);

	if (error != cudaErrorMemoryAllocation || tfsim_stream_capturing(stream))
		return error;
	tfsim_stream_synchronize(stream);
	return sim_alloc(size, pool, out_range);
}

/* In a capture the address is fixed now and lives as long as the process: a graph may replay. */
cudaError_t tfsim_malloc_async(
	void **out_address, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
	struct tfsim_work work = {.kind = TFSIM_ALLOC, .bytes = size};
	cudaError_t error = sim_enter();
	struct tfsim_range range;

	if (error != cudaSuccess)
		return error;
	if (!out_address)
		return cudaErrorInvalidValue;
	if (size == 0) {
		*out_address = NULL;
		return cudaSuccess;
	}
	if (!pool)
		pool = sim.device[tfsim_stream_device(stream)].pool;
	error = allocate(size, pool, stream, &range);
	if (error == cudaSuccess)
		error = tfsim_enqueue(stream, &work);
	if (error != cudaSuccess)
		return error;
	sim_pool_account(pool, (int64_t)size);
	sim_emit_memory(1, &range);
	*out_address = range.base;
	return cudaSuccess;
}

cudaError_t tfsim_free_async(void *address, cudaStream_t stream)
{
	struct release r = {address};
	struct tfsim_work work = {
		.kind = TFSIM_FREE,
		.run = release,
		.args = &r,
		.args_size = sizeof(r),
	};
	cudaError_t error = sim_enter();
	struct tfsim_range range;

	if (error != cudaSuccess || !address)
		return error;
	if (!tfsim_memory_find(address, &range) || range.base != address ||
		range.kind != TFSIM_DEVICE)
		return cudaErrorInvalidValue;
	work.bytes = range.size;
	if (tfsim_stream_capturing(stream))
		work.run = NULL;
	error = tfsim_enqueue(stream, &work);
	if (error != cudaSuccess)
		return error;
	sim_pool_account(range.pool, -(int64_t)range.size);
	sim_emit_memory(2, &range);
	return cudaSuccess;
}

cudaMemPool_t tfsim_pool_default(int device)
{
	return sim_enter() == cudaSuccess && device >= 0 && device < sim.device_count
		       ? &sim.device[device].default_pool
		       : NULL;
}

cudaMemPool_t tfsim_pool_current(int device)
{
	return tfsim_pool_default(device) ? sim.device[device].pool : NULL;
}

cudaError_t tfsim_pool_select(int device, cudaMemPool_t pool)
{
	if (!tfsim_pool_default(device) || !pool)
		return cudaErrorInvalidValue;
	sim.device[device].pool = pool;
	return cudaSuccess;
}

cudaError_t tfsim_pool_create(cudaMemPool_t *out_pool, int device)
{
	struct CUmemPoolHandle_st *pool;

	if (!out_pool || !tfsim_pool_default(device))
		return cudaErrorInvalidValue;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return cudaErrorMemoryAllocation;
	sim_pool_init(pool, device);
	*out_pool = pool;
	return cudaSuccess;
}

/* Allocations of a pool outlive its handle, so the little struct stays. */
cudaError_t tfsim_pool_destroy(cudaMemPool_t pool)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if (!pool)
		return cudaErrorInvalidValue;
	for (int i = 0; i < sim.device_count; i++) {
		if (pool == &sim.device[i].default_pool)
			return cudaErrorInvalidValue;
		if (pool == sim.device[i].pool)
			sim.device[i].pool = &sim.device[i].default_pool;
	}
	return cudaSuccess;
}

cudaError_t tfsim_pool_get(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	if (!pool || !value || attr < 1 || attr > cudaMemPoolAttrUsedMemHigh)
		return cudaErrorInvalidValue;
	if (attr <= cudaMemPoolReuseAllowInternalDependencies)
		*(int *)value = (int)pool->attr[attr];
	else
		*(uint64_t *)value = pool->attr[attr];
	return cudaSuccess;
}

/* The high-water marks can only be set back to what is current. */
cudaError_t tfsim_pool_set(cudaMemPool_t pool, enum cudaMemPoolAttr attr, const void *value)
{
	if (!pool || !value || attr < 1 || attr > cudaMemPoolAttrUsedMemHigh)
		return cudaErrorInvalidValue;
	if (attr <= cudaMemPoolReuseAllowInternalDependencies)
		pool->attr[attr] = *(const int *)value != 0;
	else if (attr == cudaMemPoolAttrReleaseThreshold)
		pool->attr[attr] = *(const uint64_t *)value;
	else if (attr == cudaMemPoolAttrReservedMemHigh || attr == cudaMemPoolAttrUsedMemHigh)
		pool->attr[attr] = pool->attr[attr - 1];
	else
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

cudaError_t tfsim_pool_trim(cudaMemPool_t pool, size_t keep)
{
	uint64_t *reserved, used;

	if (!pool)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	reserved = &pool->attr[cudaMemPoolAttrReservedMemCurrent];
	used = pool->attr[cudaMemPoolAttrUsedMemCurrent];
	if (*reserved > keep && *reserved > used)
		*reserved = used > keep ? used : keep;
	pthread_mutex_unlock(&sim.lock);
	return cudaSuccess;
}
