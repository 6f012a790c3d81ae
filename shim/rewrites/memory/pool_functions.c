/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/pool_functions.h"

#include <cuda_runtime_api.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/lookup.h"
#include "shim/rewrites/memory/memory_functions.h"

static struct {
	__typeof__(&cudaDeviceGetMemPool) current;
	__typeof__(&cudaDeviceGetDefaultMemPool) standard;
	__typeof__(&cudaMemPoolGetAttribute) get;
	__typeof__(&cudaMemPoolSetAttribute) set;
	__typeof__(&cudaMemPoolTrimTo) trim;
} runtime;

static int runtime_current(void **out_pool, int device)
{
	return (int)runtime.current((cudaMemPool_t *)out_pool, device);
}

static int runtime_standard(void **out_pool, int device)
{
	return (int)runtime.standard((cudaMemPool_t *)out_pool, device);
}

static int runtime_get(void *pool, enum tfs_pool_attribute attribute, uint64_t *out_value)
{
	return (int)runtime.get(pool, (enum cudaMemPoolAttr)attribute, out_value);
}

static int runtime_set(void *pool, enum tfs_pool_attribute attribute, uint64_t value)
{
	return (int)runtime.set(pool, (enum cudaMemPoolAttr)attribute, &value);
}

static int runtime_trim(void *pool, size_t keep)
{
	return (int)runtime.trim(pool, keep);
}

static const struct tfs_pool_functions of_runtime = {
	.current = runtime_current,
	.standard = runtime_standard,
	.get = runtime_get,
	.set = runtime_set,
	.trim = runtime_trim,
};

static struct {
	__typeof__(&cuDeviceGetMemPool) current;
	__typeof__(&cuDeviceGetDefaultMemPool) standard;
	__typeof__(&cuMemPoolGetAttribute) get;
	__typeof__(&cuMemPoolSetAttribute) set;
	__typeof__(&cuMemPoolTrimTo) trim;
} driver;

static int driver_current(void **out_pool, int device)
{
	return (int)driver.current((CUmemoryPool *)out_pool, device);
}

static int driver_standard(void **out_pool, int device)
{
	return (int)driver.standard((CUmemoryPool *)out_pool, device);
}

static int driver_get(void *pool, enum tfs_pool_attribute attribute, uint64_t *out_value)
{
	return (int)driver.get(pool, (CUmemPool_attribute)attribute, out_value);
}

static int driver_set(void *pool, enum tfs_pool_attribute attribute, uint64_t value)
{
	return (int)driver.set(pool, (CUmemPool_attribute)attribute, &value);
}

static int driver_trim(void *pool, size_t keep)
{
	return (int)driver.trim(pool, keep);
}

static const struct tfs_pool_functions of_driver = {
	.current = driver_current,
	.standard = driver_standard,
	.get = driver_get,
	.set = driver_set,
	.trim = driver_trim,
};

_Static_assert((int)TFS_POOL_THRESHOLD == (int)cudaMemPoolAttrReleaseThreshold &&
		       (int)TFS_POOL_THRESHOLD == (int)CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
		       (int)TFS_POOL_RESERVED == (int)cudaMemPoolAttrReservedMemCurrent &&
		       (int)TFS_POOL_RESERVED == (int)CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
	"one number for both");

static bool find_runtime(void)
{
#define LOOK_UP(field, name)                                                                       \
	(runtime.field = (__typeof__(runtime.field))tfs_lookup_named(TFS_LIBRARY_cudart, name))
	return LOOK_UP(current, "cudaDeviceGetMemPool") &&
	       LOOK_UP(standard, "cudaDeviceGetDefaultMemPool") &&
	       LOOK_UP(get, "cudaMemPoolGetAttribute") && LOOK_UP(set, "cudaMemPoolSetAttribute") &&
	       LOOK_UP(trim, "cudaMemPoolTrimTo");
#undef LOOK_UP
}

static bool find_driver(void)
{
#define LOOK_UP(field, name)                                                                       \
	(driver.field = (__typeof__(driver.field))tfs_lookup_named(TFS_LIBRARY_cuda, name))
	return LOOK_UP(current, "cuDeviceGetMemPool") &&
	       LOOK_UP(standard, "cuDeviceGetDefaultMemPool") &&
	       LOOK_UP(get, "cuMemPoolGetAttribute") && LOOK_UP(set, "cuMemPoolSetAttribute") &&
	       LOOK_UP(trim, "cuMemPoolTrimTo");
#undef LOOK_UP
}

const struct tfs_pool_functions *tfs_pool_functions(bool of_the_driver)
{
	static _Atomic int known[2];

	if (of_the_driver)
		return tfs_lookup_steady(TFS_LIBRARY_cuda) &&
				       tfs_functions_found(&known[1], find_driver)
			       ? &of_driver
			       : NULL;
	return tfs_lookup_steady(TFS_LIBRARY_cudart) && tfs_functions_found(&known[0], find_runtime)
		       ? &of_runtime
		       : NULL;
}
