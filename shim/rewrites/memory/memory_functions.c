/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/memory_functions.h"

#include <cuda_runtime_api.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/layers.h"

_Static_assert((int)TFS_MEMORY_STREAM == (int)cudaStreamNonBlocking &&
		       (int)TFS_MEMORY_STREAM == (int)CU_STREAM_NON_BLOCKING &&
		       (int)TFS_MEMORY_EVENT == (int)cudaEventDisableTiming &&
		       (int)TFS_MEMORY_EVENT == (int)CU_EVENT_DISABLE_TIMING &&
		       (int)TFS_MEMORY_READ == (int)cudaMemcpyDeviceToHost &&
		       (int)cudaDevAttrPageableMemoryAccess ==
			       (int)CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
	"one number for both");

/* Errors of the driver's wait for nobody. */
static int no_error(void)
{
	return 0;
}

static struct tfs_memory_functions of_runtime;
static struct tfs_memory_functions of_driver = {.error_waits = no_error, .forget_error = no_error};

#define ROW(field, runtime, driver) TFS_LAYER_ROW(tfs_memory_functions, field, runtime, driver)
static const struct tfs_layer_row rows[] = {
	ROW(alloc, "cudaMalloc", "cuMemAlloc_v2"),
	ROW(release, "cudaFree", "cuMemFree_v2"),
	ROW(drain, "cudaDeviceSynchronize", "cuCtxSynchronize"),
	ROW(fill, "cudaMemsetAsync", "cuMemsetD8Async"),
	ROW(read, "cudaMemcpy", "cuMemcpyDtoH_v2"),
	ROW(stream_create, "cudaStreamCreateWithFlags", "cuStreamCreate"),
	ROW(event_create, "cudaEventCreateWithFlags", "cuEventCreate"),
	ROW(event_record, "cudaEventRecord", "cuEventRecord"),
	ROW(event_wait, "cudaEventSynchronize", "cuEventSynchronize"),
	ROW(event_query, "cudaEventQuery", "cuEventQuery"),
	ROW(stream_query, "cudaStreamQuery", "cuStreamQuery"),
	ROW(device, "cudaGetDevice", "cuCtxGetDevice"),
	ROW(device_count, "cudaGetDeviceCount", "cuDeviceGetCount"),
	ROW(info, "cudaMemGetInfo", "cuMemGetInfo_v2"),
	ROW(attribute, "cudaDeviceGetAttribute", "cuDeviceGetAttribute"),
	ROW(error_waits, "cudaPeekAtLastError", ""),
	ROW(forget_error, "cudaGetLastError", ""),
	ROW(capture_mode, "cudaThreadExchangeStreamCaptureMode",
		"cuThreadExchangeStreamCaptureMode"),
};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	static struct tfs_layer_table layers = {
		rows, sizeof(rows) / sizeof(rows[0]), {&of_runtime, &of_driver}, {0}};

	return tfs_layer_functions(&layers, driver);
}

bool tfs_memory_reaches_pageable(const struct tfs_memory_functions *use, int device)
{
	int value = 0;

	return use->attribute(&value, cudaDevAttrPageableMemoryAccess, device) != 0 || value != 0;
}
