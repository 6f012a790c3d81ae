/* SPDX-License-Identifier: MIT */
/*
 * A CUDA runtime linked into the program, as far as driver_client.c and the trainers need one: it
 * opens libcuda.so.1, asks dlsym once, and gets all else from what it found, by name, version and
 * flag, as NVIDIA's does, which only NVIDIA's driver can serve. Built without debug information,
 * which NVIDIA's lacks too.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "driver_client.h"

/* name, version, flag, what it is called here */
#define FUNCTIONS(X)                                                                               \
	X(cuMemAlloc, 3020, 0, alloc)                                                              \
	X(cuMemFree, 3020, 0, free)                                                                \
	X(cuMemHostAlloc, 2020, 0, host_alloc)                                                     \
	X(cuMemAllocHost, 3020, 0, malloc_host)                                                    \
	X(cuMemFreeHost, 2000, 0, host_free)                                                       \
	X(cuMemcpyHtoD, 3020, 0, upload)                                                           \
	X(cuMemcpyDtoH, 3020, 0, download)                                                         \
	X(cuMemcpyHtoDAsync, 3020, 0, upload_async)                                                \
	X(cuMemcpyDtoHAsync, 3020, 0, download_async)                                              \
	X(cuMemcpyDtoD, 3020, 0, move)                                                             \
	X(cuMemcpyDtoDAsync, 3020, 0, move_async)                                                  \
	X(cuMemsetD8, 3020, 0, set)                                                                \
	X(cuMemsetD8Async, 3020, 0, set_async)                                                     \
	X(cuLaunchKernel, 4000, 0, launch)                                                         \
	X(cuStreamCreate, 2000, 0, stream_create)                                                  \
	X(cuStreamDestroy, 4000, 0, stream_destroy)                                                \
	X(cuStreamSynchronize, 2000, 0, stream_wait)                                               \
	X(cuStreamWaitEvent, 3020, 0, stream_wait_event)                                           \
	X(cuEventCreate, 2000, 0, event_create)                                                    \
	X(cuEventDestroy, 4000, 0, event_destroy)                                                  \
	X(cuEventRecord, 2000, 0, event_record)                                                    \
	X(cuEventSynchronize, 2000, 0, event_wait)                                                 \
	X(cuGetErrorString, 6000, 0, error_text)                                                   \
	X(cuCtxSynchronize, 2000, 0, wait)                                                         \
	X(cuLibraryLoadData, 12000, 0, library_load)                                               \
	X(cuLibraryGetKernel, 12000, 0, library_kernel)

static struct {
	void *library;
	int asked;
	PFN_cuGetProcAddress_v12000 get;
#define X(name, version, flags, field) PFN_##name##_v##version field;
	FUNCTIONS(X)
#undef X
} driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult state = CUDA_ERROR_NOT_INITIALIZED;

static void *find(const char *name, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult result;
	void *function = NULL;

	driver.asked++;
	return driver.get(name, &function, version, flags, &result) == CUDA_SUCCESS ? function
										    : NULL;
}

static void start(void)
{
	PFN_cuGetProcAddress_v11030 old = NULL;
	CUdriverProcAddressQueryResult result;
	PFN_cuDevicePrimaryCtxRetain_v7000 retain;
	PFN_cuCtxSetCurrent_v4000 make_current;
	PFN_cuInit_v2000 init;
	CUcontext context;
	void *nothing;

	driver.library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver.library)
		return;
	driver.get = (PFN_cuGetProcAddress_v12000)dlsym(driver.library, "cuGetProcAddress_v2");
	if (!driver.get)
		return;
	driver.get("", &nothing, 0, 0, &result);
	init = (PFN_cuInit_v2000)find("cuInit", 2000, 0);
	old = (PFN_cuGetProcAddress_v11030)find("cuGetProcAddress", 11030, 0);
	driver.get = (PFN_cuGetProcAddress_v12000)find("cuGetProcAddress", 12000, 0);
	if (!init || !old || !driver.get)
		return;
	for (size_t i = 0; i < driver_names_count; i++)
		for (cuuint64_t flags = 0; flags < 3; flags++)
			find(driver_names[i].name, driver_names[i].version, flags);
#define X(name, version, flags, field)                                                             \
	driver.field = (PFN_##name##_v##version)find(#name, version, flags);
	FUNCTIONS(X)
#undef X
	old("cuDevicePrimaryCtxRetain", (void **)&retain, 7000, 0);
	old("cuCtxSetCurrent", (void **)&make_current, 4000, 0);
	state = init(0);
	if (state == CUDA_SUCCESS)
		state = retain(&context, 0);
	if (state == CUDA_SUCCESS)
		state = make_current(context);
}

int client_start(void)
{
	pthread_once(&once, start);
	return (int)state;
}

LOCAL cudaError_t cudaFree(void *memory)
{
	client_start();
	if (state != CUDA_SUCCESS || !memory)
		return (cudaError_t)state;
	return (cudaError_t)driver.free((CUdeviceptr)(uintptr_t)memory);
}

LOCAL cudaError_t cudaMalloc(void **out, size_t bytes)
{
	CUdeviceptr address = 0;
	cudaError_t status = cudaFree(NULL);

	if (status == cudaSuccess)
		status = (cudaError_t)driver.alloc(&address, bytes);
	*out = (void *)(uintptr_t)address;
	return status;
}

LOCAL cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
	cudaError_t status = cudaFree(NULL);

	return status ? status : (cudaError_t)driver.host_alloc(out, bytes, flags);
}

LOCAL cudaError_t cudaMallocHost(void **out, size_t bytes)
{
	cudaError_t status = cudaFree(NULL);

	return status ? status : (cudaError_t)driver.malloc_host(out, bytes);
}

LOCAL cudaError_t cudaFreeHost(void *memory)
{
	return (cudaError_t)driver.host_free(memory);
}

LOCAL cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	if (kind == cudaMemcpyHostToDevice)
		return (cudaError_t)driver.upload((CUdeviceptr)(uintptr_t)to, from, bytes);
	if (kind == cudaMemcpyDeviceToDevice)
		return (cudaError_t)driver.move(
			(CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes);
	return (cudaError_t)driver.download(to, (CUdeviceptr)(uintptr_t)from, bytes);
}

LOCAL cudaError_t cudaMemcpyAsync(
	void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	if (kind == cudaMemcpyHostToDevice)
		return (cudaError_t)driver.upload_async(
			(CUdeviceptr)(uintptr_t)to, from, bytes, stream);
	if (kind == cudaMemcpyDeviceToDevice)
		return (cudaError_t)driver.move_async(
			(CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes, stream);
	return (cudaError_t)driver.download_async(to, (CUdeviceptr)(uintptr_t)from, bytes, stream);
}

LOCAL cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	return (cudaError_t)driver.set((CUdeviceptr)(uintptr_t)to, (unsigned char)value, bytes);
}

LOCAL cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	return (cudaError_t)driver.set_async(
		(CUdeviceptr)(uintptr_t)to, (unsigned char)value, bytes, stream);
}

LOCAL cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
	cudaError_t status = cudaFree(NULL);

	return status ? status : (cudaError_t)driver.stream_create(out, flags);
}

LOCAL cudaError_t cudaStreamCreate(cudaStream_t *out)
{
	return cudaStreamCreateWithFlags(out, 0);
}

LOCAL cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	return (cudaError_t)driver.stream_wait_event(stream, event, flags);
}

LOCAL cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
	cudaError_t status = cudaFree(NULL);

	return status ? status : (cudaError_t)driver.event_create(out, flags);
}

LOCAL cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	return (cudaError_t)driver.event_destroy(event);
}

LOCAL cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return (cudaError_t)driver.event_record(event, stream);
}

LOCAL cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	return (cudaError_t)driver.event_wait(event);
}

LOCAL const char *cudaGetErrorString(cudaError_t error)
{
	const char *text = NULL;

	if (client_start() == 0)
		driver.error_text((CUresult)error, &text);
	return text ? text : "unknown error";
}

LOCAL cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	return (cudaError_t)driver.stream_destroy(stream);
}

LOCAL cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	return (cudaError_t)driver.stream_wait(stream);
}

LOCAL cudaError_t cudaDeviceSynchronize(void)
{
	return (cudaError_t)driver.wait();
}

LOCAL cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, enum cudaJitOption *jit,
	void **jit_values, unsigned jit_count, enum cudaLibraryOption *options, void **values,
	unsigned count)
{
	(void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
	return (cudaError_t)driver.library_load(
		(CUlibrary *)out, code, NULL, NULL, 0, NULL, NULL, 0);
}

LOCAL cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
	return (cudaError_t)driver.library_kernel((CUkernel *)out, (CUlibrary)library, name);
}

LOCAL cudaError_t client_launch(cudaKernel_t kernel, const struct client_launch *launch)
{
	return (cudaError_t)driver.launch((CUfunction)kernel, launch->grid.x, launch->grid.y,
		launch->grid.z, launch->block.x, launch->block.y, launch->block.z,
		(unsigned)launch->shared, launch->stream, launch->arguments, NULL);
}
