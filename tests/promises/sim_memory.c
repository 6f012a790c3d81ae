/* SPDX-License-Identifier: MIT */
/* Kinds of memory, their attributes, how much there is, pools. */
#include "sim_gate.h"

#define SIZE ((size_t)64 << 20)

static void check_kind(void *address, enum cudaMemoryType type)
{
	struct cudaPointerAttributes attributes;
	char *inside = (char *)address + 1000;

	OK(cudaPointerGetAttributes(&attributes, inside));
	TEST_EQ(attributes.type, type);
	if (type == cudaMemoryTypeDevice)
		TEST_TRUE(attributes.devicePointer == inside && !attributes.hostPointer);
	else
		TEST_TRUE(attributes.hostPointer == inside);
	if (type != cudaMemoryTypeUnregistered)
		TEST_EQ(attributes.device, 0);
}

static void check_kinds(void)
{
	void *device, *pinned, *managed, *plain = malloc(4096), *mapped = NULL;
	char back[64];

	OK(cudaMalloc(&device, 4096));
	OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
	OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
	check_kind(device, cudaMemoryTypeDevice);
	check_kind(pinned, cudaMemoryTypeHost);
	check_kind(managed, cudaMemoryTypeManaged);
	check_kind(plain, cudaMemoryTypeUnregistered);
	OK(cudaHostGetDevicePointer(&mapped, pinned, 0));
	TEST_TRUE(mapped);
	/* Managed memory is the host's too. */
	OK(cudaMemset(managed, 3, 64));
	OK(cudaDeviceSynchronize());
	TEST_EQ(wrong_bytes(managed, 3, 64), 0);
	OK(cudaMemcpy(device, managed, 64, cudaMemcpyDefault));
	OK(cudaMemcpy(back, device, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 3, 64), 0);
	OK(cudaFree(managed));
	OK(cudaFreeHost(pinned));
	OK(cudaFree(device));
	free(plain);
}

static void check_amount(void)
{
	size_t before, after, again, total;
	void *memory;

	OK(cudaMemGetInfo(&before, &total));
	TEST_TRUE(before <= total);
	OK(cudaMalloc(&memory, SIZE));
	OK(cudaMemGetInfo(&after, &total));
	TEST_TRUE(before - after >= SIZE);
	OK(cudaFree(memory));
	OK(cudaMemGetInfo(&again, &total));
	TEST_EQ(again, before);
	TEST_EQ(cudaMalloc(&memory, total), cudaErrorMemoryAllocation);
	(void)cudaGetLastError();
}

static void check_places(void)
{
	char *blocks[64];

	for (int i = 0; i < 64; i++) {
		OK(cudaMalloc((void **)&blocks[i], (size_t)i * 37 + 1));
		TEST_EQ((uintptr_t)blocks[i] % 256, 0);
	}
	for (int i = 0; i < 64; i++)
		OK(cudaMemset(blocks[i], i, (size_t)i * 37 + 1));
	for (int i = 0; i < 64; i++) {
		char back[64 * 37 + 1];

		OK(cudaMemcpy(back, blocks[i], (size_t)i * 37 + 1, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, i, (size_t)i * 37 + 1), 0);
		OK(cudaFree(blocks[i]));
	}
}

static void check_pitched(void)
{
	char host[3][10], back[3][10];
	size_t pitch = 0;
	void *memory;

	memset(host, 1, sizeof(host));
	memset(host[1], 2, sizeof(host[1]));
	OK(cudaMallocPitch(&memory, &pitch, 10, 3));
	TEST_TRUE(pitch >= 10 && pitch % 32 == 0);
	OK(cudaMemcpy2D(memory, pitch, host, 10, 10, 3, cudaMemcpyHostToDevice));
	OK(cudaMemset2D((char *)memory + 2 * pitch, pitch, 9, 10, 1));
	OK(cudaMemcpy2D(back, 10, memory, pitch, 10, 3, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back[0], 1, 10), 0);
	TEST_EQ(wrong_bytes(back[1], 2, 10), 0);
	TEST_EQ(wrong_bytes(back[2], 9, 10), 0);
	OK(cudaFree(memory));
}

/* How pinned memory was made; that of a box has room for all of its rows. */
static void check_made(void)
{
	const struct cudaExtent extent = {10, 3, 2};
	struct cudaPitchedPtr box = {NULL, 0, 0, 0};
	unsigned flags = 0;
	void *pinned;
	char plain;

	OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocPortable));
	OK(cudaHostGetFlags(&flags, pinned));
	TEST_TRUE(flags & cudaHostAllocPortable);
	TEST_EQ(cudaHostGetFlags(&flags, &plain), cudaErrorInvalidValue);
	TEST_EQ(cudaHostGetFlags(NULL, pinned), cudaErrorInvalidValue);
	(void)cudaGetLastError();
	OK(cudaFreeHost(pinned));
	OK(cudaMalloc3D(&box, extent));
	TEST_TRUE(box.pitch >= 10 && box.xsize == 10 && box.ysize == 3);
	OK(cudaMemset(box.ptr, 1, box.pitch * 6));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(box.ptr));
}

/* Only on the simulated device is nobody else at the memory. */
cudaError_t tfsim_malloc(void **out_address, size_t size) __attribute__((weak));

static size_t free_now(void)
{
	size_t bytes = 0, all;

	OK(cudaMemGetInfo(&bytes, &all));
	return bytes;
}

/* Beside the threshold, what a pool does not need goes back when the host waits; what it keeps is
 * nobody else's before it is told to part with it. */
static void check_threshold(void)
{
	const size_t bytes = (size_t)40 << 20;
	const size_t before = free_now();
	uint64_t keep = UINT64_MAX, reserved = 0;
	cudaMemPool_t pool;
	void *memory, *rest;

	OK(cudaDeviceGetMemPool(&pool, 0));
	for (int kept = 0; kept < 2; kept++) {
		OK(cudaMallocAsync(&memory, bytes, NULL));
		OK(cudaFreeAsync(memory, NULL));
		OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
		TEST_TRUE(reserved >= bytes);
		OK(cudaStreamSynchronize(NULL));
		OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
		TEST_TRUE(kept ? reserved >= bytes : reserved < bytes);
		TEST_TRUE(kept ? free_now() + bytes <= before : free_now() + bytes > before);
		OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	}
	if (!tfsim_malloc)
		return;
	TEST_EQ(cudaMalloc(&rest, before - bytes / 2), cudaErrorMemoryAllocation);
	TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
	OK(cudaMemPoolTrimTo(pool, 0));
	TEST_EQ(free_now(), before);
	OK(cudaMalloc(&rest, before - bytes / 2));
	OK(cudaFree(rest));
}

static void check_pool(void)
{
	uint64_t used = 1, high = 0, keep = UINT64_MAX, threshold = 0;
	cudaMemPool_t pool;
	cudaStream_t stream;
	void *memory;
	char back[64];

	OK(cudaStreamCreate(&stream));
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	TEST_TRUE(threshold == keep);
	for (int i = 0; i < 8; i++) {
		OK(cudaMallocAsync(&memory, SIZE, stream));
		OK(cudaMemsetAsync(memory, i, 64, stream));
		OK(cudaMemcpyAsync(back, memory, 64, cudaMemcpyDeviceToHost, stream));
		OK(cudaStreamSynchronize(stream));
		TEST_EQ(wrong_bytes(back, i, 64), 0);
		OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
		TEST_TRUE(used >= SIZE);
		OK(cudaFreeAsync(memory, stream));
	}
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
	TEST_EQ(used, 0);
	TEST_TRUE(high >= SIZE && high < 2 * SIZE);
	OK(cudaMemPoolTrimTo(pool, 0));
	/* cudaFree takes such memory too, after the program has waited itself. */
	OK(cudaMallocAsync(&memory, SIZE, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaFree(memory));
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	OK(cudaFree(NULL));
	check_kinds();
	check_amount();
	check_places();
	check_pitched();
	check_made();
	check_threshold();
	check_pool();
	return test_result();
}
