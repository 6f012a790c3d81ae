/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/sim/core/core_device.h"
#include "tests/sim/cuda/cuda_private.h"

static CUresult check(CUdevice dev)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	return dev < 0 || dev >= tfsim_device_count() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = SIM_DRIVER_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult result = check(ordinal);

	if (result)
		return result;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	if (!sim_driver_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = tfsim_device_count();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult result = check(dev);

	if (result)
		return result;
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)len, "%s", tfsim_device_name());
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	CUresult result = check(dev);

	if (result)
		return result;
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	memset(uuid, 0, sizeof(*uuid));
	memcpy(uuid->bytes, "tfsim", 5);
	uuid->bytes[15] = (char)dev;
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult result = check(dev);
	size_t unused;

	if (result)
		return result;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_driver_result((int)tfsim_memory_info(&unused, bytes));
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	CUresult result = check(dev);

	if (result)
		return result;
	if (!pi || !tfsim_device_attribute((int)attrib, dev, pi))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	CUresult result = check(dev);

	if (result)
		return result;
	if (!pciBusId || len < 13)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", dev + 1);
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	CUresult result =
		cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);

	return result ? result
		      : cuDeviceGetAttribute(
				minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev);
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
	CUresult result = check(dev);

	if (!result)
		result = check(peerDev);
	if (result)
		return result;
	if (!canAccessPeer)
		return CUDA_ERROR_INVALID_VALUE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	CUresult result = check(dev);

	if (result)
		return result;
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	*pool_out = tfsim_pool_default(dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	CUresult result = check(dev);

	if (result)
		return result;
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	*pool = tfsim_pool_current(dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	CUresult result = check(dev);

	return result ? result : sim_driver_result((int)tfsim_pool_select(dev, pool));
}
