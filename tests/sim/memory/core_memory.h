/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_MEMORY_H
#define TFS_TESTS_SIM_CORE_MEMORY_H

/*
 * Memory of the simulated GPU. Device memory is host memory from one reserved range per device, so
 * that a device pointer can be read by run() functions directly; addresses are unique in the
 * process. What the registry does not list is pageable.
 */

#include "tests/sim/core/core.h"

struct tfsim_range {
	void *base;
	size_t size;
	enum tfsim_memory kind;
	int device;
	unsigned context;
	unsigned flags;  /* of cudaHostAlloc, cudaHostRegister, cudaMallocManaged */
	bool registered; /* pinned by cudaHostRegister */
	bool from_pool;  /* stream-ordered allocation */
	bool on_device;  /* managed: has been there */
	unsigned users;  /* managed: times that queued work names it to compute with */
	cudaMemPool_t pool;
	uint64_t id;
};

/* The allocation an address lies in; false when it is pageable (or nothing at all). */
TFSIM_API bool tfsim_memory_find(const void *address, struct tfsim_range *out_range);
TFSIM_API enum tfsim_memory tfsim_memory_kind(const void *address);

/*
 * Device memory of the current device, 512-byte aligned; cudaErrorMemoryAllocation when there is
 * no room. For a library's own use: no API record, no capture check, no implicit synchronisation.
 */
TFSIM_API cudaError_t tfsim_device_alloc(void **out_address, size_t size);
/* Gives it back at once: the caller knows that no work uses it any more. NULL is a no-op. */
TFSIM_API cudaError_t tfsim_device_free(void *address);

/* The calls of the runtime and the driver (capture checks, implicit synchronisation, records). */
TFSIM_API cudaError_t tfsim_malloc(void **out_address, size_t size);
TFSIM_API cudaError_t tfsim_free(void *address);
TFSIM_API cudaError_t tfsim_host_alloc(void **out_address, size_t size, unsigned flags);
TFSIM_API cudaError_t tfsim_host_free(void *address);
TFSIM_API cudaError_t tfsim_host_register(void *address, size_t size, unsigned flags);
TFSIM_API cudaError_t tfsim_host_unregister(void *address);
TFSIM_API cudaError_t tfsim_managed_alloc(void **out_address, size_t size, unsigned flags);
TFSIM_API cudaError_t tfsim_malloc_async(
	void **out_address, size_t size, cudaMemPool_t pool, cudaStream_t stream);
TFSIM_API cudaError_t tfsim_free_async(void *address, cudaStream_t stream);
TFSIM_API cudaError_t tfsim_memory_info(size_t *out_free, size_t *out_total);

/*
 * Pools: one default pool per device. What a pool holds beside what is in use is no free memory; it
 * gives it back when the host waits, as far as it is above the release threshold. Attributes keep
 * their values and their accounting.
 */
TFSIM_API cudaMemPool_t tfsim_pool_default(int device);
TFSIM_API cudaMemPool_t tfsim_pool_current(int device);
TFSIM_API cudaError_t tfsim_pool_select(int device, cudaMemPool_t pool);
TFSIM_API cudaError_t tfsim_pool_create(cudaMemPool_t *out_pool, int device);
TFSIM_API cudaError_t tfsim_pool_destroy(cudaMemPool_t pool);
TFSIM_API cudaError_t tfsim_pool_get(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value);
TFSIM_API cudaError_t tfsim_pool_set(
	cudaMemPool_t pool, enum cudaMemPoolAttr attr, const void *value);
TFSIM_API cudaError_t tfsim_pool_trim(cudaMemPool_t pool, size_t keep);

#endif
