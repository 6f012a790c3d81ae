/* SPDX-License-Identifier: MIT */
#include "core_device.h"

#include <limits.h>
#include <stdlib.h>

#include "core_private.h"

#define ATTRIBUTES 148

/* A small device of compute capability 8.0, whose bandwidth is the cost model's. */
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
	[cudaDevAttrClockRate] = 1000000,
	[cudaDevAttrTextureAlignment] = 512,
	[cudaDevAttrGpuOverlap] = 1,
	[cudaDevAttrMultiProcessorCount] = 16,
	[cudaDevAttrCanMapHostMemory] = 1,
	[cudaDevAttrConcurrentKernels] = 1,
	[cudaDevAttrMemoryClockRate] = 2500000,
	[cudaDevAttrGlobalMemoryBusWidth] = 64,
	[cudaDevAttrL2CacheSize] = 4 << 20,
	[cudaDevAttrMaxThreadsPerMultiProcessor] = 2048,
	[cudaDevAttrAsyncEngineCount] = 2,
	[cudaDevAttrUnifiedAddressing] = 1,
	[cudaDevAttrTexturePitchAlignment] = 32,
	[cudaDevAttrComputeCapabilityMajor] = 8,
	[cudaDevAttrStreamPrioritiesSupported] = 1,
	[cudaDevAttrGlobalL1CacheSupported] = 1,
	[cudaDevAttrLocalL1CacheSupported] = 1,
	[cudaDevAttrMaxSharedMemoryPerMultiprocessor] = 164 << 10,
	[cudaDevAttrMaxRegistersPerMultiprocessor] = 65536,
	[cudaDevAttrManagedMemory] = 1,
	[cudaDevAttrSingleToDoublePrecisionPerfRatio] = 2,
	[cudaDevAttrConcurrentManagedAccess] = 1,
	[cudaDevAttrComputePreemptionSupported] = 1,
	[cudaDevAttrCanUseHostPointerForRegisteredMem] = 1,
	[cudaDevAttrMaxSharedMemoryPerBlockOptin] = 163 << 10,
	[cudaDevAttrHostRegisterSupported] = 1,
	[cudaDevAttrMaxBlocksPerMultiprocessor] = 32,
	[cudaDevAttrReservedSharedMemoryPerBlock] = 1024,
	[cudaDevAttrMemoryPoolsSupported] = 1,
};

bool tfsim_device_attribute(int attribute, int device, int *out_value)
{
	if (attribute < 1 || attribute >= ATTRIBUTES)
		return false;
	*out_value = attribute == cudaDevAttrPciBusId ? device + 1 : values[attribute];
	/* A coherent system, for programs that must tell the difference. */
	if (attribute == cudaDevAttrPageableMemoryAccessUsesHostPageTables ||
		attribute == cudaDevAttrPageableMemoryAccess)
		*out_value = getenv("TFSIM_COHERENT") != NULL;
	return true;
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
