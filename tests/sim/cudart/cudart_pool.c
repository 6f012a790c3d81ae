/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	ENTER(cudaDeviceGetDefaultMemPool_v11020, pool, device);
	if (!pool)
		return LEAVE(cudaErrorInvalidValue);
	*pool = tfsim_pool_default(device);
	return LEAVE(*pool ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
	ENTER(cudaDeviceGetMemPool_v11020, pool, device);
	if (!pool)
		return LEAVE(cudaErrorInvalidValue);
	*pool = tfsim_pool_current(device);
	return LEAVE(*pool ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
	ENTER(cudaDeviceSetMemPool_v11020, device, pool);
	return LEAVE(tfsim_pool_select(device, pool));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
	ENTER(cudaMemPoolCreate_v11020, pool, props);
	return LEAVE(props && props->location.type == cudaMemLocationTypeDevice
			     ? tfsim_pool_create(pool, props->location.id)
			     : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	ENTER(cudaMemPoolDestroy_v11020, pool);
	return LEAVE(tfsim_pool_destroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	ENTER(cudaMemPoolTrimTo_v11020, pool, keep);
	return LEAVE(tfsim_pool_trim(pool, keep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	ENTER(cudaMemPoolSetAttribute_v11020, pool, attr, value);
	return LEAVE(tfsim_pool_set(pool, attr, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	ENTER(cudaMemPoolGetAttribute_v11020, pool, attr, value);
	return LEAVE(tfsim_pool_get(pool, attr, value));
}

/* Every device can read every other one's memory here, whatever was asked for. */
cudaError_t cudaMemPoolSetAccess(
	cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count)
{
	ENTER(cudaMemPoolSetAccess_v11020, pool, list, count);
	return LEAVE(pool && (list || count == 0) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(
	enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *location)
{
	ENTER(cudaMemPoolGetAccess_v11020, flags, pool, location);
	if (!flags || !pool || !location)
		return LEAVE(cudaErrorInvalidValue);
	*flags = cudaMemAccessFlagsProtReadWrite;
	return LEAVE(cudaSuccess);
}
