/* SPDX-License-Identifier: MIT */
/* What programs of the driver count on when they take stream-ordered memory in every step; the
 * device's memory must be 256 MiB. See rewrite_reserve.c. */
#include <cuda.h>

#include "tests/test.h"

#define GOOD(call) TEST_EQ(call, CUDA_SUCCESS)
#define MIB ((size_t)1 << 20)

static CUstream stream;

static void churn(CUmemoryPool pool, size_t bytes)
{
	CUdeviceptr memory;

	if (pool)
		GOOD(cuMemAllocFromPoolAsync(&memory, bytes, pool, stream));
	else
		GOOD(cuMemAllocAsync(&memory, bytes, stream));
	GOOD(cuMemsetD8Async(memory, 1, bytes, stream));
	GOOD(cuMemFreeAsync(memory, stream));
	GOOD(cuStreamSynchronize(stream));
}

static void ask(CUmemoryPool pool)
{
	cuuint64_t value = 1;

	GOOD(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
	TEST_EQ(value, 0);
	GOOD(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
	TEST_TRUE(value < MIB);
}

static void check(CUmemoryPool pool)
{
	size_t before, after, all;
	CUdeviceptr memory;

	GOOD(cuMemGetInfo(&before, &all));
	for (int i = 0; i < 20; i++)
		churn(pool, 40 * MIB);
	if (pool)
		ask(pool);
	for (int i = 0; i < 4; i++)
		churn(pool, 40 * MIB);
	GOOD(cuMemGetInfo(&after, &all));
	TEST_TRUE(after + MIB >= before);
	for (int i = 0; i < 4; i++)
		churn(pool, 40 * MIB);
	GOOD(cuMemAlloc(&memory, before - 4 * MIB));
	GOOD(cuMemFree(memory));
}

int main(void)
{
	const CUmemPoolProps like = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool;
	CUcontext context;
	CUdevice device;

	GOOD(cuInit(0));
	GOOD(cuDeviceGet(&device, 0));
	GOOD(cuDevicePrimaryCtxRetain(&context, device));
	GOOD(cuCtxSetCurrent(context));
	GOOD(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	check(NULL);
	GOOD(cuMemPoolCreate(&pool, &like));
	check(pool);
	GOOD(cuMemPoolDestroy(pool));
	return test_result();
}
