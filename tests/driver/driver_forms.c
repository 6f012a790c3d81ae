/* SPDX-License-Identifier: MIT */
/*
 * Copies, sets and launches in forms that few programs use, each with data that tells whether it
 * was done; tests/driver/driver.sh compares what is recorded of them.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

#include "tests/promises/sim_ptx.h"

#define SIDE 64

/* By name, as a program without the driver among its libraries finds them. */
#define FIND(name, symbol) __typeof__(&name) find_##name = (__typeof__(&name))dlsym(driver, symbol)

static unsigned char host[SIDE][SIDE], back[SIDE][SIDE];
static void *driver;

static void check_boxes(CUdeviceptr device)
{
	FIND(cuMemcpy3D, "cuMemcpy3D_v2");
	FIND(cuMemcpy3DAsync, "cuMemcpy3DAsync_v2");
	/* 4 layers of 8 rows of 16 bytes, out of rows of 64. */
	CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
		.srcHost = host,
		.srcPitch = SIDE,
		.srcHeight = 16,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = device,
		.dstPitch = SIDE,
		.dstHeight = 16,
		.WidthInBytes = 16,
		.Height = 8,
		.Depth = 4};

	TEST_EQ(find_cuMemcpy3D(&box), CUDA_SUCCESS);
	box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	box.srcDevice = device;
	box.dstMemoryType = CU_MEMORYTYPE_HOST;
	box.dstHost = back;
	TEST_EQ(find_cuMemcpy3DAsync(&box, NULL), CUDA_SUCCESS);
	TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			TEST_EQ(back[y][x], y % 16 < 8 && x < 16 ? host[y][x] : 0);
}

static void check_batches(CUdeviceptr device, CUstream stream)
{
	CUresult (*batch)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *,
		size_t *, size_t, CUstream) = NULL;
	CUmemcpyAttributes with = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUdeviceptr to[] = {device, device + 1000}, from[] = {device + 2000, device + 3000};
	size_t sizes[] = {100, 200}, first = 0;

	*(void **)&batch = dlsym(driver, "cuMemcpyBatchAsync_v2");
	TEST_EQ(batch(to, from, sizes, 2, &with, &first, 1, stream), CUDA_SUCCESS);
	TEST_TRUE(batch(NULL, NULL, NULL, 2, &with, &first, 1, stream) != CUDA_SUCCESS);
}

static void check_sets(CUdeviceptr device, CUstream stream)
{
	FIND(cuMemsetD2D16, "cuMemsetD2D16_v2");
	FIND(cuMemsetD2D32Async, "cuMemsetD2D32Async");

	TEST_EQ(find_cuMemsetD2D16(device, SIDE, 0x0102, 8, 4), CUDA_SUCCESS);
	TEST_EQ(find_cuMemsetD2D32Async(device + 8 * SIDE, SIDE, 7, SIDE / 4, 4, stream),
		CUDA_SUCCESS);
	TEST_EQ(cudaStreamSynchronize(stream), cudaSuccess);
	TEST_EQ(cudaMemcpy(back, (void *)(uintptr_t)device, sizeof(back), cudaMemcpyDeviceToHost),
		cudaSuccess);
	TEST_EQ(back[3][15], 1);
	TEST_EQ(back[3][14], 2);
	TEST_EQ(back[11][SIDE - 4], 7);
	TEST_EQ(back[12][0], 0);
}

/* All arguments in one buffer. */
static void check_packed(CUdeviceptr device)
{
	FIND(cuLaunchKernel, "cuLaunchKernel");
	FIND(cuLibraryGetKernel, "cuLibraryGetKernel");
	cudaLibrary_t library = sim_ptx_load();
	struct {
		CUdeviceptr x;
		int count, step;
	} packed = {device, 4, 5};
	size_t bytes = sizeof(packed);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
		&bytes, CU_LAUNCH_PARAM_END};
	int words[4] = {0};
	CUkernel kernel;

	TEST_EQ(find_cuLibraryGetKernel(&kernel, (CUlibrary)library, "add_one"), CUDA_SUCCESS);
	TEST_EQ(find_cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, extra),
		CUDA_SUCCESS);
	TEST_EQ(cudaMemcpy(words, (void *)(uintptr_t)device, sizeof(words), cudaMemcpyDeviceToHost),
		cudaSuccess);
	printf("words %d %d\n", words[0], words[3]);
}

int main(void)
{
	cudaStream_t stream;
	void *memory;

	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver || cudaMalloc(&memory, sizeof(host)) != cudaSuccess)
		return test_skip("no device");
	for (int i = 0; i < SIDE * SIDE; i++)
		host[i / SIDE][i % SIDE] = (unsigned char)(i * 7 + i / 256 + 1);
	TEST_EQ(cudaMemset(memory, 0, sizeof(host)), cudaSuccess);
	TEST_EQ(cudaStreamCreate(&stream), cudaSuccess);
	check_boxes((CUdeviceptr)(uintptr_t)memory);
	check_batches((CUdeviceptr)(uintptr_t)memory, stream);
	TEST_EQ(cudaMemset(memory, 0, sizeof(host)), cudaSuccess);
	check_sets((CUdeviceptr)(uintptr_t)memory, stream);
	check_packed((CUdeviceptr)(uintptr_t)memory);
	TEST_EQ(cudaFree(memory), cudaSuccess);
	return test_result();
}
