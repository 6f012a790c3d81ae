/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/core/core_private.h"

#define ATTRIBUTES 148

/* What is the same in all profiles. */
static const int values[ATTRIBUTES] = {
	[cudaDevAttrMaxThreadsPerBlock] = 1024,
	[cudaDevAttrMaxBlockDimX] = 1024,
	[cudaDevAttrMaxBlockDimY] = 1024,
	[cudaDevAttrMaxBlockDimZ] = 64,
	[cudaDevAttrMaxGridDimX] = INT_MAX,
	[cudaDevAttrMaxGridDimY] = 65535,
	[cudaDevAttrMaxGridDimZ] = 65535,
	[cudaDevAttrMaxSharedMemoryPerBlock] = 48 << 10,
	[cudaDevAttrTotalConstantMemory] = 64 << 10,
	[cudaDevAttrWarpSize] = 32,
	[cudaDevAttrMaxPitch] = INT_MAX,
	[cudaDevAttrMaxRegistersPerBlock] = 65536,
	[cudaDevAttrTextureAlignment] = 512,
	[cudaDevAttrGpuOverlap] = 1,
	[cudaDevAttrCanMapHostMemory] = 1,
	[cudaDevAttrConcurrentKernels] = 1,
	[cudaDevAttrMaxThreadsPerMultiProcessor] = 2048,
	[cudaDevAttrAsyncEngineCount] = 2,
	[cudaDevAttrUnifiedAddressing] = 1,
	[cudaDevAttrTexturePitchAlignment] = 32,
	[cudaDevAttrStreamPrioritiesSupported] = 1,
	[cudaDevAttrGlobalL1CacheSupported] = 1,
	[cudaDevAttrLocalL1CacheSupported] = 1,
	[cudaDevAttrMaxRegistersPerMultiprocessor] = 65536,
	[cudaDevAttrManagedMemory] = 1,
	[cudaDevAttrSingleToDoublePrecisionPerfRatio] = 2,
	[cudaDevAttrConcurrentManagedAccess] = 1,
	[cudaDevAttrComputePreemptionSupported] = 1,
	[cudaDevAttrCanUseHostPointerForRegisteredMem] = 1,
	[cudaDevAttrHostRegisterSupported] = 1,
	[cudaDevAttrMaxBlocksPerMultiprocessor] = 32,
	[cudaDevAttrReservedSharedMemoryPerBlock] = 1024,
	[cudaDevAttrMemoryPoolsSupported] = 1,
};

static int of_profile(int attribute)
{
	const struct sim_profile *profile = sim.profile;

	switch (attribute) {
	case cudaDevAttrClockRate:
		return profile->clock_khz;
	case cudaDevAttrMultiProcessorCount:
		return (int)profile->multiprocessors;
	/* What its kernels take is scaled. */
	case cudaDevAttrMemoryClockRate:
		return (int)(profile->memory_khz / sim.scale);
	case cudaDevAttrGlobalMemoryBusWidth:
		return profile->bus_bits;
	case cudaDevAttrL2CacheSize:
		return profile->cache_bytes;
	case cudaDevAttrComputeCapabilityMajor:
		return profile->major;
	case cudaDevAttrComputeCapabilityMinor:
		return profile->minor;
	case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
		return profile->shared_bytes;
	case cudaDevAttrMaxSharedMemoryPerBlockOptin:
		return profile->shared_bytes - 1024;
	default:
		return values[attribute];
	}
}

const char *tfsim_device_name(void)
{
	static char slice[64];

	sim_enter();
	if (!getenv("TFSIM_SLICE"))
		return sim.profile->device;
	/* As drivers name an instance of MIG's. */
	snprintf(slice, sizeof(slice), "%s MIG 1g.5gb", sim.profile->device);
	return slice;
}

bool tfsim_device_attribute(int attribute, int device, int *out_value)
{
	if (attribute < 1 || attribute >= ATTRIBUTES)
		return false;
	sim_enter();
	*out_value = attribute == cudaDevAttrPciBusId ? device + 1 : of_profile(attribute);
	/* A coherent system, for programs that must tell the difference. */
	if (attribute == cudaDevAttrPageableMemoryAccessUsesHostPageTables ||
		attribute == cudaDevAttrPageableMemoryAccess)
		*out_value = getenv("TFSIM_COHERENT") != NULL;
	if (attribute == cudaDevAttrMpsEnabled)
		*out_value = getenv("TFSIM_MPS") != NULL;
	return true;
}

bool tfsim_device_begun(int device)
{
	bool begun;

	if (device < 0 || device >= tfsim_device_count())
		return false;
	pthread_mutex_lock(&sim.lock);
	begun = sim.device[device].begun || sim.device[device].used;
	pthread_mutex_unlock(&sim.lock);
	return begun;
}

bool tfsim_device_active(int device)
{
	bool used;

	if (device < 0 || device >= tfsim_device_count())
		return false;
	pthread_mutex_lock(&sim.lock);
	used = sim.device[device].used;
	pthread_mutex_unlock(&sim.lock);
	return used;
}
