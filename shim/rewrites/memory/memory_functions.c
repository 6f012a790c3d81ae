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

#define TWINS(field, runtime) TFS_LAYER_TWINS(tfs_memory_functions, field, TFS_TWINS_##runtime)
#define CALLS(field, runtime, driver)                                                              \
	TFS_LAYER_CALLS(tfs_memory_functions, field, TFS_DIRECT_##runtime, TFS_DIRECT_##driver)
static const struct tfs_layer_row rows[] = {
	TWINS(alloc, cudaMalloc),
	TWINS(release, cudaFree),
	TWINS(drain, cudaDeviceSynchronize),
	TWINS(fill, cudaMemsetAsync),
	CALLS(read, cudaMemcpy, cuMemcpyDtoH_v2),
	TWINS(stream_create, cudaStreamCreateWithFlags),
	TWINS(event_create, cudaEventCreateWithFlags),
	TWINS(event_record, cudaEventRecord),
	TWINS(event_wait, cudaEventSynchronize),
	TWINS(event_query, cudaEventQuery),
	TWINS(stream_query, cudaStreamQuery),
	TWINS(device, cudaGetDevice),
	TWINS(device_count, cudaGetDeviceCount),
	TWINS(info, cudaMemGetInfo),
	TWINS(attribute, cudaDeviceGetAttribute),
	CALLS(error_waits, cudaPeekAtLastError, NONE),
	CALLS(forget_error, cudaGetLastError, NONE),
	TWINS(capture_mode, cudaThreadExchangeStreamCaptureMode),
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
