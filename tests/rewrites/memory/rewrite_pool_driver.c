/* SPDX-License-Identifier: MIT */
/* Allocates and frees in every step by the driver alone, as a CUDA runtime that is linked into the
 * program does; and counts on what rewrite_pool.c counts on. */
#include <cuda.h>
#include <unistd.h>

#include "tests/test.h"

/* The ABIs that a runtime asks for to this day; the header names the newer ones. */
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);

#define OK(call) TEST_EQ(call, CUDA_SUCCESS)
#define BYTES (2u << 20)
#define ROUNDS 24

static CUstream stream;

static void churn(int times)
{
	static unsigned char back[BYTES];
	CUdeviceptr memory;

	for (int i = 1; i <= times; i++) {
		unsigned wrong = 0;

		OK(cuMemAlloc(&memory, BYTES));
		OK(cuMemcpyDtoH(back, memory, BYTES));
		for (unsigned k = 0; k < BYTES; k++)
			wrong += back[k] == 0x5a;
		TEST_EQ(wrong, 0);
		OK(cuMemsetD8Async(memory, 0x5a, BYTES, stream));
		OK(cuMemFree(memory));
	}
}

/* Frees and asks again what is no longer there. */
static void misuse(CUdevice device, size_t free_at_first)
{
	CUdeviceptr memory, base;
	size_t bytes, before, after, all;
	unsigned type;
	int ordinal = 99;
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	void *data[] = {&ordinal};

	OK(cuMemGetInfo(&before, &all));
	TEST_EQ(before, free_at_first);
	OK(cuMemAlloc(&memory, BYTES));
	OK(cuPointerGetAttributes(1, wanted, data, memory));
	TEST_EQ(ordinal, device);
	OK(cuMemGetAddressRange(&base, &bytes, memory + 10));
	TEST_EQ(base, memory);
	TEST_EQ(bytes, BYTES);
	OK(cuMemFree(memory));
	OK(cuMemGetInfo(&after, &all));
	TEST_EQ(after, before);
	TEST_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
	TEST_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
		CUDA_ERROR_INVALID_VALUE);
	OK(cuPointerGetAttributes(1, wanted, data, memory));
	TEST_EQ(ordinal, -2);
	TEST_EQ(cuMemGetAddressRange(&base, &bytes, memory), CUDA_ERROR_INVALID_VALUE);
}

/* What was kept is no hindrance to a larger block. */
static void make_room(void)
{
	CUdeviceptr one, two, large;

	for (int i = 0; i < 8; i++) {
		OK(cuMemAlloc(&one, 70u << 20));
		OK(cuMemAlloc(&two, 70u << 20));
		OK(cuMemFree(one));
		OK(cuMemFree(two));
	}
	OK(cuMemAlloc(&large, 200u << 20));
	OK(cuMemFree(large));
	TEST_EQ(cuMemAlloc(&large, 300u << 20), CUDA_ERROR_OUT_OF_MEMORY);
}

int main(void)
{
	CUcontext context;
	CUdevice device;
	size_t first, all;

	alarm(300);
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemGetInfo(&first, &all));
	churn(ROUNDS);
	misuse(device, first);
	make_room();
	OK(cuStreamDestroy(stream));
	for (int i = 0; i < 2; i++) {
		OK(i == 0 ? cuDevicePrimaryCtxReset(device) : cuDevicePrimaryCtxReset_v2(device));
		OK(cuDevicePrimaryCtxRetain(&context, device));
		OK(cuCtxSetCurrent(context));
		OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		churn(ROUNDS);
	}
	OK(cuDevicePrimaryCtxRelease(device));
	return test_result();
}
