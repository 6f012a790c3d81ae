/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/pool_functions.h"

#include <cuda_runtime_api.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/layers.h"

_Static_assert((int)TFS_POOL_THRESHOLD == (int)cudaMemPoolAttrReleaseThreshold &&
		       (int)TFS_POOL_THRESHOLD == (int)CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
		       (int)TFS_POOL_RESERVED == (int)cudaMemPoolAttrReservedMemCurrent &&
		       (int)TFS_POOL_RESERVED == (int)CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
	"one number for both");

static struct tfs_pool_functions of_runtime;
static struct tfs_pool_functions of_driver;

#define ROW(field, runtime, driver) TFS_LAYER_ROW(tfs_pool_functions, field, runtime, driver)
static const struct tfs_layer_row rows[] = {
	ROW(current, "cudaDeviceGetMemPool", "cuDeviceGetMemPool"),
	ROW(standard, "cudaDeviceGetDefaultMemPool", "cuDeviceGetDefaultMemPool"),
	ROW(get, "cudaMemPoolGetAttribute", "cuMemPoolGetAttribute"),
	ROW(set, "cudaMemPoolSetAttribute", "cuMemPoolSetAttribute"),
	ROW(trim, "cudaMemPoolTrimTo", "cuMemPoolTrimTo"),
};

const struct tfs_pool_functions *tfs_pool_functions(bool driver)
{
	static struct tfs_layer_table layers = {
		rows, sizeof(rows) / sizeof(rows[0]), {&of_runtime, &of_driver}, {0}};

	return tfs_layer_functions(&layers, driver);
}
