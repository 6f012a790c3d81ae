/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/memory_functions.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/lookup.h"

static struct {
	cudaError_t (*alloc)(void **, size_t);
	__typeof__(&cudaFree) release;
	__typeof__(&cudaDeviceSynchronize) drain;
	__typeof__(&cudaMemsetAsync) fill;
	__typeof__(&cudaStreamCreateWithFlags) stream_create;
	__typeof__(&cudaEventCreateWithFlags) event_create;
	__typeof__(&cudaEventRecord) event_record;
	__typeof__(&cudaEventSynchronize) event_wait;
	__typeof__(&cudaEventQuery) event_query;
	__typeof__(&cudaStreamQuery) stream_query;
	__typeof__(&cudaGetDevice) device;
	__typeof__(&cudaGetDeviceCount) device_count;
	__typeof__(&cudaMemGetInfo) info;
	__typeof__(&cudaMemcpy) read;
	__typeof__(&cudaDeviceGetAttribute) attribute;
	__typeof__(&cudaPeekAtLastError) peek_error;
	__typeof__(&cudaGetLastError) take_error;
	__typeof__(&cudaThreadExchangeStreamCaptureMode) capture_mode;
} runtime;

static int runtime_alloc(void **out, size_t bytes)
{
	return (int)runtime.alloc(out, bytes);
}

static int runtime_release(void *address)
{
	return (int)runtime.release(address);
}

static int runtime_drain(void)
{
	return (int)runtime.drain();
}

static int runtime_fill(void *address, int value, size_t bytes, void *stream)
{
	return (int)runtime.fill(address, value, bytes, stream);
}

static int runtime_stream_create(void **out)
{
	return (int)runtime.stream_create((cudaStream_t *)out, cudaStreamNonBlocking);
}

static int runtime_event_create(void **out)
{
	return (int)runtime.event_create((cudaEvent_t *)out, cudaEventDisableTiming);
}

static int runtime_event_record(void *event, void *stream)
{
	return (int)runtime.event_record(event, stream);
}

static int runtime_event_wait(void *event)
{
	return (int)runtime.event_wait(event);
}

static int runtime_event_query(void *event)
{
	return (int)runtime.event_query(event);
}

static int runtime_stream_query(void *stream)
{
	return (int)runtime.stream_query(stream);
}

static int runtime_device(int *out)
{
	return (int)runtime.device(out);
}

static int runtime_device_count(int *out)
{
	return (int)runtime.device_count(out);
}

static int runtime_info(size_t *out_free, size_t *out_all)
{
	return (int)runtime.info(out_free, out_all);
}

static int runtime_read(void *to, const void *from, size_t bytes)
{
	return (int)runtime.read(to, from, bytes, cudaMemcpyDeviceToHost);
}

static bool runtime_reaches_pageable(int device)
{
	int value = 0;

	return runtime.attribute(&value, cudaDevAttrPageableMemoryAccess, device) != cudaSuccess ||
	       value != 0;
}

static bool runtime_error_waits(void)
{
	return runtime.peek_error() != cudaSuccess;
}

static void runtime_forget_error(void)
{
	runtime.take_error();
}

static int runtime_capture_mode(int mode)
{
	enum cudaStreamCaptureMode exchanged = (enum cudaStreamCaptureMode)mode;

	return runtime.capture_mode(&exchanged) == cudaSuccess ? (int)exchanged : mode;
}

static const struct tfs_memory_functions of_runtime = {
	.alloc = runtime_alloc,
	.release = runtime_release,
	.drain = runtime_drain,
	.fill = runtime_fill,
	.stream_create = runtime_stream_create,
	.event_create = runtime_event_create,
	.event_record = runtime_event_record,
	.event_wait = runtime_event_wait,
	.event_query = runtime_event_query,
	.stream_query = runtime_stream_query,
	.device = runtime_device,
	.device_count = runtime_device_count,
	.info = runtime_info,
	.read = runtime_read,
	.reaches_pageable = runtime_reaches_pageable,
	.error_waits = runtime_error_waits,
	.forget_error = runtime_forget_error,
	.capture_mode = runtime_capture_mode,
};

static struct {
	__typeof__(&cuMemAlloc_v2) alloc;
	__typeof__(&cuMemFree_v2) release;
	__typeof__(&cuCtxSynchronize) drain;
	__typeof__(&cuMemsetD8Async) fill;
	__typeof__(&cuStreamCreate) stream_create;
	__typeof__(&cuEventCreate) event_create;
	__typeof__(&cuEventRecord) event_record;
	__typeof__(&cuEventSynchronize) event_wait;
	__typeof__(&cuEventQuery) event_query;
	__typeof__(&cuStreamQuery) stream_query;
	__typeof__(&cuCtxGetDevice) device;
	__typeof__(&cuDeviceGetCount) device_count;
	__typeof__(&cuMemGetInfo_v2) info;
	__typeof__(&cuMemcpyDtoH_v2) read;
	__typeof__(&cuDeviceGetAttribute) attribute;
	__typeof__(&cuThreadExchangeStreamCaptureMode) capture_mode;
} driver;

static int driver_alloc(void **out, size_t bytes)
{
	CUdeviceptr address = 0;
	const CUresult status = driver.alloc(&address, bytes);

	if (status == CUDA_SUCCESS)
		*out = (void *)(uintptr_t)address;
	return (int)status;
}

static int driver_release(void *address)
{
	return (int)driver.release((CUdeviceptr)(uintptr_t)address);
}

static int driver_drain(void)
{
	return (int)driver.drain();
}

static int driver_fill(void *address, int value, size_t bytes, void *stream)
{
	return (int)driver.fill(
		(CUdeviceptr)(uintptr_t)address, (unsigned char)value, bytes, stream);
}

static int driver_stream_create(void **out)
{
	return (int)driver.stream_create((CUstream *)out, CU_STREAM_NON_BLOCKING);
}

static int driver_event_create(void **out)
{
	return (int)driver.event_create((CUevent *)out, CU_EVENT_DISABLE_TIMING);
}

static int driver_event_record(void *event, void *stream)
{
	return (int)driver.event_record(event, stream);
}

static int driver_event_wait(void *event)
{
	return (int)driver.event_wait(event);
}

static int driver_event_query(void *event)
{
	return (int)driver.event_query(event);
}

static int driver_stream_query(void *stream)
{
	return (int)driver.stream_query(stream);
}

static int driver_device(int *out)
{
	return (int)driver.device(out);
}

static int driver_device_count(int *out)
{
	return (int)driver.device_count(out);
}

static int driver_info(size_t *out_free, size_t *out_all)
{
	return (int)driver.info(out_free, out_all);
}

static int driver_read(void *to, const void *from, size_t bytes)
{
	return (int)driver.read(to, (CUdeviceptr)(uintptr_t)from, bytes);
}

static bool driver_reaches_pageable(int device)
{
	int value = 0;

	return driver.attribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device) !=
		       CUDA_SUCCESS ||
	       value != 0;
}

/* The driver has no last error. */
static bool driver_error_waits(void)
{
	return false;
}

static void driver_forget_error(void)
{
}

static int driver_capture_mode(int mode)
{
	CUstreamCaptureMode exchanged = (CUstreamCaptureMode)mode;

	return driver.capture_mode(&exchanged) == CUDA_SUCCESS ? (int)exchanged : mode;
}

static const struct tfs_memory_functions of_driver = {
	.alloc = driver_alloc,
	.release = driver_release,
	.drain = driver_drain,
	.fill = driver_fill,
	.stream_create = driver_stream_create,
	.event_create = driver_event_create,
	.event_record = driver_event_record,
	.event_wait = driver_event_wait,
	.event_query = driver_event_query,
	.stream_query = driver_stream_query,
	.device = driver_device,
	.device_count = driver_device_count,
	.info = driver_info,
	.read = driver_read,
	.reaches_pageable = driver_reaches_pageable,
	.error_waits = driver_error_waits,
	.forget_error = driver_forget_error,
	.capture_mode = driver_capture_mode,
};

#define LOOK_UP(of, field, name)                                                                   \
	(of.field = (__typeof__(of.field))tfs_lookup_named(TFS_LIBRARY_CUDA_OF_##of, name))
#define TFS_LIBRARY_CUDA_OF_runtime TFS_LIBRARY_cudart
#define TFS_LIBRARY_CUDA_OF_driver TFS_LIBRARY_cuda

static bool find_runtime(void)
{
	return LOOK_UP(runtime, alloc, "cudaMalloc") && LOOK_UP(runtime, release, "cudaFree") &&
	       LOOK_UP(runtime, drain, "cudaDeviceSynchronize") &&
	       LOOK_UP(runtime, fill, "cudaMemsetAsync") &&
	       LOOK_UP(runtime, stream_create, "cudaStreamCreateWithFlags") &&
	       LOOK_UP(runtime, event_create, "cudaEventCreateWithFlags") &&
	       LOOK_UP(runtime, event_record, "cudaEventRecord") &&
	       LOOK_UP(runtime, event_wait, "cudaEventSynchronize") &&
	       LOOK_UP(runtime, event_query, "cudaEventQuery") &&
	       LOOK_UP(runtime, stream_query, "cudaStreamQuery") &&
	       LOOK_UP(runtime, device, "cudaGetDevice") &&
	       LOOK_UP(runtime, device_count, "cudaGetDeviceCount") &&
	       LOOK_UP(runtime, info, "cudaMemGetInfo") && LOOK_UP(runtime, read, "cudaMemcpy") &&
	       LOOK_UP(runtime, attribute, "cudaDeviceGetAttribute") &&
	       LOOK_UP(runtime, peek_error, "cudaPeekAtLastError") &&
	       LOOK_UP(runtime, take_error, "cudaGetLastError") &&
	       LOOK_UP(runtime, capture_mode, "cudaThreadExchangeStreamCaptureMode");
}

static bool find_driver(void)
{
	return LOOK_UP(driver, alloc, "cuMemAlloc_v2") &&
	       LOOK_UP(driver, release, "cuMemFree_v2") &&
	       LOOK_UP(driver, drain, "cuCtxSynchronize") &&
	       LOOK_UP(driver, fill, "cuMemsetD8Async") &&
	       LOOK_UP(driver, stream_create, "cuStreamCreate") &&
	       LOOK_UP(driver, event_create, "cuEventCreate") &&
	       LOOK_UP(driver, event_record, "cuEventRecord") &&
	       LOOK_UP(driver, event_wait, "cuEventSynchronize") &&
	       LOOK_UP(driver, event_query, "cuEventQuery") &&
	       LOOK_UP(driver, stream_query, "cuStreamQuery") &&
	       LOOK_UP(driver, device, "cuCtxGetDevice") &&
	       LOOK_UP(driver, device_count, "cuDeviceGetCount") &&
	       LOOK_UP(driver, info, "cuMemGetInfo_v2") &&
	       LOOK_UP(driver, read, "cuMemcpyDtoH_v2") &&
	       LOOK_UP(driver, attribute, "cuDeviceGetAttribute") &&
	       LOOK_UP(driver, capture_mode, "cuThreadExchangeStreamCaptureMode");
}

/* 1 = there, 2 = not. Two threads that look at the same time find the same. */
bool tfs_functions_found(_Atomic int *known, bool (*find)(void))
{
	int state = atomic_load_explicit(known, memory_order_acquire);

	if (state == 0) {
		state = find() ? 1 : 2;
		atomic_store_explicit(known, state, memory_order_release);
	}
	return state == 1;
}

const struct tfs_memory_functions *tfs_memory_functions(bool of_the_driver)
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
