/* SPDX-License-Identifier: MIT */
/* Kernels as nvcc's generated code registers and launches them, for driver_client_runtime.c. */
#include <string.h>

#include "driver_client.h"

#define KERNELS 64
#define PENDING 8

/* Not in a public header. */
LOCAL void **__cudaRegisterFatBinary(void *image);
LOCAL void __cudaRegisterFatBinaryEnd(void **handle);
LOCAL void __cudaUnregisterFatBinary(void **handle);
LOCAL void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
LOCAL unsigned __cudaPushCallConfiguration(
	dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
LOCAL cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
LOCAL cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
LOCAL cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static struct {
	void *image; /* one is enough for a program of one file */
	cudaLibrary_t library;
	struct {
		const char *host, *name;
	} kernels[KERNELS];
	unsigned count;
} registered;

static __thread struct client_launch pending[PENDING];
static __thread unsigned depth;
static __thread cudaError_t latest;

void **__cudaRegisterFatBinary(void *image)
{
	registered.image = image;
	return &registered.image;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid;
	(void)warp;
	if (registered.count == KERNELS)
		return;
	registered.kernels[registered.count].host = host;
	registered.kernels[registered.count++].name = name;
}

unsigned __cudaPushCallConfiguration(
	dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
	if (depth == PENDING)
		return 1;
	pending[depth++] = (struct client_launch){grid, block, NULL, shared, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	if (depth == 0)
		return cudaErrorMissingConfiguration;
	depth--;
	*grid = pending[depth].grid;
	*block = pending[depth].block;
	*shared = pending[depth].shared;
	memcpy(stream, &pending[depth].stream, sizeof(cudaStream_t));
	return cudaSuccess;
}

/* Code is loaded when its first kernel is wanted. */
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
	cudaError_t status = (cudaError_t)client_start();

	if (status == cudaSuccess && !registered.library)
		status = cudaLibraryLoadData(
			&registered.library, registered.image, NULL, NULL, 0, NULL, NULL, 0);
	for (unsigned i = 0; status == cudaSuccess && i < registered.count; i++)
		if (registered.kernels[i].host == host)
			return cudaLibraryGetKernel(
				out, registered.library, registered.kernels[i].name);
	return status == cudaSuccess ? cudaErrorInvalidDeviceFunction : status;
}

cudaError_t __cudaLaunchKernel(
	cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	const struct client_launch launch = {grid, block, args, shared, stream};
	const cudaError_t status = client_launch(kernel, &launch);

	if (status != cudaSuccess)
		latest = status;
	return status;
}

LOCAL cudaError_t cudaGetLastError(void)
{
	const cudaError_t was = latest;

	latest = cudaSuccess;
	return was;
}
