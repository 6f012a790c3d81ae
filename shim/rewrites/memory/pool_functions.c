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

#define TWINS(field, runtime) TFS_LAYER_TWINS(tfs_pool_functions, field, TFS_TWINS_##runtime)
static const struct tfs_layer_row rows[] = {
	TWINS(current, cudaDeviceGetMemPool),
	TWINS(standard, cudaDeviceGetDefaultMemPool),
	TWINS(get, cudaMemPoolGetAttribute),
	TWINS(set, cudaMemPoolSetAttribute),
	TWINS(trim, cudaMemPoolTrimTo),
};

const struct tfs_pool_functions *tfs_pool_functions(bool driver)
{
	static struct tfs_layer_table layers = {
		rows, sizeof(rows) / sizeof(rows[0]), {&of_runtime, &of_driver}, {0}};

	return tfs_layer_functions(&layers, driver);
}
