/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>

#include "tests/sim/core/core_private.h"

#define CHUNK ((uint64_t)32 << 20)

struct release {
	void *address;
};

static struct CUmemPoolHandle_st *created;

void sim_pool_init(struct CUmemPoolHandle_st *pool, int device)
{
	*pool = (struct CUmemPoolHandle_st){.device = device};
	pool->attr[cudaMemPoolReuseFollowEventDependencies] = 1;
	pool->attr[cudaMemPoolReuseAllowOpportunistic] = 1;
	pool->attr[cudaMemPoolReuseAllowInternalDependencies] = 1;
}

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + CHUNK - 1) / CHUNK * CHUNK;
}

static uint64_t busy(const struct CUmemPoolHandle_st *pool)
{
	return pool->attr[cudaMemPoolAttrUsedMemCurrent] + pool->leaving;
}

static uint64_t idle(const struct CUmemPoolHandle_st *pool)
{
	const uint64_t reserved = pool->attr[cudaMemPoolAttrReservedMemCurrent];

	return reserved > busy(pool) ? reserved - busy(pool) : 0;
}

uint64_t sim_pool_idle(int device, const struct CUmemPoolHandle_st *other_than)
{
	const struct CUmemPoolHandle_st *standard = &sim.device[device].default_pool;
	uint64_t bytes = standard != other_than ? idle(standard) : 0;

	for (const struct CUmemPoolHandle_st *pool = created; pool; pool = pool->next)
		if (pool->device == device && pool != other_than)
			bytes += idle(pool);
	return bytes;
}

/* In whole chunks, as far as there is room for them. */
static uint64_t grown(const struct CUmemPoolHandle_st *pool)
{
	const uint64_t used = pool->attr[cudaMemPoolAttrUsedMemCurrent];
	const uint64_t whole = rounded(used);
	const uint64_t room = sim_arena_left(pool->device, pool);

	return whole - used < room ? whole : used + room;
}

static void shrink(struct CUmemPoolHandle_st *pool)
{
	uint64_t *reserved = &pool->attr[cudaMemPoolAttrReservedMemCurrent];
	const uint64_t kept = pool->attr[cudaMemPoolAttrReleaseThreshold];
	const uint64_t needed = rounded(busy(pool));

	if (*reserved > kept && *reserved > needed)
		*reserved = kept > needed ? kept : needed;
}

void sim_pool_settle(int device)
{
	pthread_mutex_lock(&sim.lock);
	shrink(&sim.device[device].default_pool);
	for (struct CUmemPoolHandle_st *pool = created; pool; pool = pool->next)
		if (pool->device == device)
			shrink(pool);
	sim_shared_tell(device);
	pthread_mutex_unlock(&sim.lock);
}

/* Accounting only: every allocation comes from the device's arena and goes back to it. */
uint64_t sim_pool_account(struct CUmemPoolHandle_st *pool, int64_t change)
{
	uint64_t *used, *reserved, mapped = 0;

	if (!pool)
		return 0;
	pthread_mutex_lock(&sim.lock);
	sim_shared_begin();
	used = &pool->attr[cudaMemPoolAttrUsedMemCurrent];
	reserved = &pool->attr[cudaMemPoolAttrReservedMemCurrent];
	*used += (uint64_t)change;
	if (*used > *reserved) {
		mapped = grown(pool) - *reserved;
		*reserved += mapped;
	}
	if (*used > pool->attr[cudaMemPoolAttrUsedMemHigh])
		pool->attr[cudaMemPoolAttrUsedMemHigh] = *used;
	if (*reserved > pool->attr[cudaMemPoolAttrReservedMemHigh])
		pool->attr[cudaMemPoolAttrReservedMemHigh] = *reserved;
	sim_shared_end(pool->device);
	pthread_mutex_unlock(&sim.lock);
	return mapped;
}

static void release(void *args)
{
	struct release *r = args;
	struct tfsim_range range;

	pthread_mutex_lock(&sim.lock);
	if (sim_range_remove(r->address, &range)) {
		if (range.pool)
			range.pool->leaving -= sim_arena_takes(range.size);
		sim_range_release(&range);
	}
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
	const uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = sim_enter();
	uint64_t mapped;
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
	mapped = sim_pool_account(pool, (int64_t)sim_arena_takes(size));
	if (mapped && !tfsim_stream_capturing(stream))
		sim_host_busy(start_ns, sim_alloc_ns(mapped));
	sim_emit_memory(1, &range);
	*out_address = range.base;
	return cudaSuccess;
}

static void set_leaving(const struct tfsim_range *range, bool leaving)
{
	if (!range->pool)
		return;
	pthread_mutex_lock(&sim.lock);
	range->pool->leaving +=
		leaving ? sim_arena_takes(range->size) : -sim_arena_takes(range->size);
	pthread_mutex_unlock(&sim.lock);
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
	else
		set_leaving(&range, true);
	error = tfsim_enqueue(stream, &work);
	if (error != cudaSuccess && work.run)
		set_leaving(&range, false);
	if (error != cudaSuccess)
		return error;
	sim_pool_account(range.pool, -(int64_t)sim_arena_takes(range.size));
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
	pthread_mutex_lock(&sim.lock);
	pool->next = created;
	created = pool;
	pthread_mutex_unlock(&sim.lock);
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

/* Barred in captures, as is setting and trimming. */
cudaError_t tfsim_pool_get(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	cudaError_t error = tfsim_capture_unsafe();

	if (error != cudaSuccess)
		return error;
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
	cudaError_t error = tfsim_capture_unsafe();

	if (error != cudaSuccess)
		return error;
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
	cudaError_t error = tfsim_capture_unsafe();
	uint64_t *reserved, needed;

	if (error != cudaSuccess)
		return error;
	if (!pool)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	reserved = &pool->attr[cudaMemPoolAttrReservedMemCurrent];
	needed = rounded(busy(pool));
	if (*reserved > keep && *reserved > needed)
		*reserved = needed > keep ? needed : keep;
	sim_shared_tell(pool->device);
	pthread_mutex_unlock(&sim.lock);
	return cudaSuccess;
}
