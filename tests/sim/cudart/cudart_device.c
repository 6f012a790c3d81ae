/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_device.h"

#define VERSION 13000
#define LIMITS 8

static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0};

cudaError_t cudaGetDeviceCount(int *count)
{
	ENTER(cudaGetDeviceCount_v3020, count);
	if (!count)
		return LEAVE(cudaErrorInvalidValue);
	*count = tfsim_device_count();
	return LEAVE(*count ? tfsim_sticky() : cudaErrorNoDevice);
}

void cudart_need_context(void)
{
	if (tfsim_context_current() == 0)
		tfsim_device_enter(tfsim_device_current(), true);
}

cudaError_t cudaSetDevice(int device)
{
	cudaError_t error;
	ENTER(cudaSetDevice_v3020, device);

	error = tfsim_device_set(device);
	if (error == cudaSuccess)
		cudart_need_context();
	return LEAVE(error);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	ENTER(cudaInitDevice_v12000, device, device_flags, flags);
	if (device < 0 || device >= tfsim_device_count())
		return LEAVE(cudaErrorInvalidDevice);
	tfsim_device_enter(device, false);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaGetDevice(int *device)
{
	cudaError_t error = device ? tfsim_sticky() : cudaErrorInvalidValue;
	ENTER(cudaGetDevice_v3020, device);

	if (error == cudaSuccess)
		*device = tfsim_device_current();
	return LEAVE(error);
}

cudaError_t cudaSetValidDevices(int *list, int count)
{
	ENTER(cudaSetValidDevices_v3020, list, count);
	return LEAVE(
		count > tfsim_device_count() || count < 0 ? cudaErrorInvalidValue : tfsim_sticky());
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
	ENTER(cudaChooseDevice_v3020, device, prop);
	if (!device || !prop)
		return LEAVE(cudaErrorInvalidValue);
	*device = 0;
	return LEAVE(tfsim_sticky());
}

static unsigned device_flags;

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	ENTER(cudaSetDeviceFlags_v3020, flags);
	if (flags & ~(unsigned)cudaDeviceMask)
		return LEAVE(cudaErrorInvalidValue);
	device_flags = flags;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	ENTER(cudaGetDeviceFlags_v7000, flags);
	if (!flags)
		return LEAVE(cudaErrorInvalidValue);
	*flags = device_flags | cudaDeviceMapHost;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceSynchronize(void)
{
	ENTER_NONE(cudaDeviceSynchronize_v3020);
	cudart_need_context();
	return LEAVE(tfsim_device_synchronize());
}

/* One bit per (device, peer): a second enabling is an error, as on hardware. */
static unsigned long long peers;

static unsigned long long peer_bit(int peer)
{
	return 1ull << (tfsim_device_current() * 8 + peer);
}

cudaError_t cudaDeviceReset(void)
{
	cudaError_t error;
	ENTER_NONE(cudaDeviceReset_v3020);

	error = tfsim_device_reset(tfsim_device_current());
	for (int peer = 0; error == cudaSuccess && peer < tfsim_device_count(); peer++)
		peers &= ~peer_bit(peer);
	return LEAVE(error);
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	ENTER(cudaDeviceSetLimit_v3020, limit, value);
	if ((unsigned)limit >= LIMITS)
		return LEAVE(cudaErrorUnsupportedLimit);
	cudart_need_context();
	limits[limit] = value;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	ENTER(cudaDeviceGetLimit_v3020, value, limit);
	if (!value || (unsigned)limit >= LIMITS)
		return LEAVE(value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
	cudart_need_context();
	*value = limits[limit];
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	ENTER(cudaDeviceSetCacheConfig_v3020, config);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	ENTER(cudaDeviceGetCacheConfig_v3020, config);
	if (config)
		*config = cudaFuncCachePreferNone;
	return LEAVE(config ? tfsim_sticky() : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	ENTER(cudaDeviceGetAttribute_v5000, value, attribute, device);
	if (device < 0 || device >= tfsim_device_count())
		return LEAVE(cudaErrorInvalidDevice);
	return LEAVE(value && tfsim_device_attribute((int)attribute, device, value)
			     ? tfsim_sticky()
			     : cudaErrorInvalidValue);
}

static int attribute(int which, int device)
{
	int value = 0;

	tfsim_device_attribute(which, device, &value);
	return value;
}

static void shape(struct cudaDeviceProp *p, int device)
{
	p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, device);
	p->maxThreadsDim[0] = attribute(cudaDevAttrMaxBlockDimX, device);
	p->maxThreadsDim[1] = attribute(cudaDevAttrMaxBlockDimY, device);
	p->maxThreadsDim[2] = attribute(cudaDevAttrMaxBlockDimZ, device);
	p->maxGridSize[0] = attribute(cudaDevAttrMaxGridDimX, device);
	p->maxGridSize[1] = attribute(cudaDevAttrMaxGridDimY, device);
	p->maxGridSize[2] = attribute(cudaDevAttrMaxGridDimZ, device);
	p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount, device);
	p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
	p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, device);
	p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock, device);
	p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, device);
	p->warpSize = attribute(cudaDevAttrWarpSize, device);
	p->major = attribute(cudaDevAttrComputeCapabilityMajor, device);
	p->minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
}

static void memory(struct cudaDeviceProp *p, int device)
{
	p->sharedMemPerBlock = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock, device);
	p->sharedMemPerBlockOptin =
		(size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
	p->sharedMemPerMultiprocessor =
		(size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
	p->reservedSharedMemPerBlock =
		(size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock, device);
	p->totalConstMem = (size_t)attribute(cudaDevAttrTotalConstantMemory, device);
	p->memPitch = (size_t)attribute(cudaDevAttrMaxPitch, device);
	p->textureAlignment = (size_t)attribute(cudaDevAttrTextureAlignment, device);
	p->texturePitchAlignment = (size_t)attribute(cudaDevAttrTexturePitchAlignment, device);
	p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth, device);
	p->l2CacheSize = attribute(cudaDevAttrL2CacheSize, device);
	p->surfaceAlignment = p->textureAlignment;
}

static void abilities(struct cudaDeviceProp *p, int device)
{
	p->integrated = attribute(cudaDevAttrIntegrated, device);
	p->canMapHostMemory = attribute(cudaDevAttrCanMapHostMemory, device);
	p->concurrentKernels = attribute(cudaDevAttrConcurrentKernels, device);
	p->asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount, device);
	p->unifiedAddressing = attribute(cudaDevAttrUnifiedAddressing, device);
	p->streamPrioritiesSupported = attribute(cudaDevAttrStreamPrioritiesSupported, device);
	p->globalL1CacheSupported = attribute(cudaDevAttrGlobalL1CacheSupported, device);
	p->localL1CacheSupported = attribute(cudaDevAttrLocalL1CacheSupported, device);
	p->managedMemory = attribute(cudaDevAttrManagedMemory, device);
	p->concurrentManagedAccess = attribute(cudaDevAttrConcurrentManagedAccess, device);
	p->computePreemptionSupported = attribute(cudaDevAttrComputePreemptionSupported, device);
	p->canUseHostPointerForRegisteredMem =
		attribute(cudaDevAttrCanUseHostPointerForRegisteredMem, device);
	p->cooperativeLaunch = attribute(cudaDevAttrCooperativeLaunch, device);
	p->hostRegisterSupported = attribute(cudaDevAttrHostRegisterSupported, device);
	p->memoryPoolsSupported = attribute(cudaDevAttrMemoryPoolsSupported, device);
	p->pciBusID = attribute(cudaDevAttrPciBusId, device);
	p->pciDeviceID = attribute(cudaDevAttrPciDeviceId, device);
	p->pciDomainID = attribute(cudaDevAttrPciDomainId, device);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	size_t available;
	ENTER(cudaGetDeviceProperties_v12000, prop, device);

	if (!prop || device < 0 || device >= tfsim_device_count())
		return LEAVE(prop ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
	memset(prop, 0, sizeof(*prop));
	snprintf(prop->name, sizeof(prop->name), "%s", tfsim_device_name());
	memcpy(prop->uuid.bytes, "tfsim device", 12);
	prop->uuid.bytes[15] = (char)device;
	tfsim_memory_info(&available, &prop->totalGlobalMem);
	shape(prop, device);
	memory(prop, device);
	abilities(prop, device);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
	ENTER(cudaDeviceGetPCIBusId_v4010, id, length, device);
	if (!id || length < 13)
		return LEAVE(cudaErrorInvalidValue);
	if (device < 0 || device >= tfsim_device_count())
		return LEAVE(cudaErrorInvalidDevice);
	snprintf(id, (size_t)length, "0000:%02x:00.0", (unsigned)(device + 1) & 0xff);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	unsigned domain, bus;
	ENTER(cudaDeviceGetByPCIBusId_v4010, device, id);

	if (!device || !id || sscanf(id, "%x:%x:", &domain, &bus) != 2)
		return LEAVE(cudaErrorInvalidValue);
	if (bus < 1 || bus > (unsigned)tfsim_device_count())
		return LEAVE(cudaErrorInvalidDevice);
	*device = (int)bus - 1;
	return LEAVE(tfsim_sticky());
}

static cudaError_t check_peers(int a, int b)
{
	int count = tfsim_device_count();

	return a < 0 || b < 0 || a >= count || b >= count ? cudaErrorInvalidDevice : tfsim_sticky();
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	cudaError_t error = can ? check_peers(device, peer) : cudaErrorInvalidValue;
	ENTER(cudaDeviceCanAccessPeer_v4000, can, device, peer);

	if (error == cudaSuccess)
		*can = device != peer;
	return LEAVE(error);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	cudaError_t error = check_peers(tfsim_device_current(), peer);
	ENTER(cudaDeviceEnablePeerAccess_v4000, peer, flags);

	if (error == cudaSuccess && (flags || peer == tfsim_device_current()))
		error = flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
	if (error == cudaSuccess && peers & peer_bit(peer))
		error = cudaErrorPeerAccessAlreadyEnabled;
	if (error == cudaSuccess)
		peers |= peer_bit(peer);
	return LEAVE(error);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	cudaError_t error = check_peers(tfsim_device_current(), peer);
	ENTER(cudaDeviceDisablePeerAccess_v4000, peer);

	if (error == cudaSuccess && !(peers & peer_bit(peer)))
		error = cudaErrorPeerAccessNotEnabled;
	if (error == cudaSuccess)
		peers &= ~peer_bit(peer);
	return LEAVE(error);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	ENTER(cudaDriverGetVersion_v3020, version);
	if (version)
		*version = VERSION;
	return LEAVE(version ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	ENTER(cudaRuntimeGetVersion_v3020, version);
	/* An earlier runtime, for programs that must tell the difference. */
	if (version)
		*version = CUDART_VERSION - (getenv("TFSIM_EARLIER") ? 1000 : 0);
	return LEAVE(version ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaProfilerStart(void)
{
	ENTER_NONE(cudaProfilerStart_v4000);
	return LEAVE(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
	ENTER_NONE(cudaProfilerStop_v4000);
	return LEAVE(cudaSuccess);
}
