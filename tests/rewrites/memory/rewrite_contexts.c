/* SPDX-License-Identifier: MIT */
/*
 * What programs of the driver count on when contexts, which own the memory that is allocated and
 * freed in every step, come to an end; one case each. See rewrite_pool.c.
 */
#include <cuda.h>
#include <unistd.h>

#include "tests/rewrites/rewrite_case.h"

#define OK(call) TEST_EQ(call, CUDA_SUCCESS)
#define BYTES (2u << 20)
#define ROUNDS 16

static CUdevice device;
static CUcontext primary;

static void churn(int times)
{
	static unsigned char back[BYTES];
	CUdeviceptr memory = 0;

	for (int i = 1; i <= times; i++) {
		unsigned wrong = 0;

		OK(cuMemAlloc(&memory, BYTES));
		OK(cuMemsetD8(memory, (unsigned char)i, BYTES));
		OK(cuMemcpyDtoH(back, memory, BYTES));
		for (unsigned k = 0; k < BYTES; k++)
			wrong += back[k] != (unsigned char)i;
		TEST_EQ(wrong, 0);
		OK(cuMemFree(memory));
	}
}

static size_t free_now(void)
{
	size_t free_bytes = 0, all;

	OK(cuMemGetInfo(&free_bytes, &all));
	return free_bytes;
}

/* Memory and handles of what has ended are not used again, and nothing of it stays. */
static void created(void)
{
	const size_t before = free_now();

	for (int i = 0; i < 6; i++) {
		CUcontext second;

		OK(cuCtxCreate(&second, NULL, 0, device));
		churn(ROUNDS);
		OK(cuCtxDestroy(second));
		TEST_EQ(free_now(), before);
		churn(ROUNDS);
	}
}

/* The same, of a context that is not the current one. */
static void created_aside(void)
{
	const size_t before = free_now();

	for (int i = 0; i < 6; i++) {
		CUcontext second;

		churn(ROUNDS);
		OK(cuCtxCreate(&second, NULL, 0, device));
		churn(ROUNDS);
		OK(cuCtxPopCurrent(&second));
		OK(cuCtxDestroy(second));
		churn(ROUNDS);
		TEST_EQ(free_now(), before);
	}
}

/* And while a stream of another is being captured, which frees would put an end to. */
static void created_capturing(void)
{
	CUstream stream;

	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 6; i++) {
		CUgraph graph = NULL;
		CUcontext second;

		churn(ROUNDS);
		OK(cuCtxCreate(&second, NULL, 0, device));
		churn(ROUNDS);
		OK(cuCtxPopCurrent(&second));
		OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
		OK(cuCtxDestroy(second));
		OK(cuStreamEndCapture(stream, &graph));
		OK(cuGraphDestroy(graph));
	}
}

/* What cannot be destroyed stays as it was. */
static void not_destroyed(void)
{
	const size_t before = free_now();
	CUcontext second, third;

	churn(ROUNDS);
	OK(cuCtxCreate(&second, NULL, 0, device));
	churn(ROUNDS);
	OK(cuCtxCreate(&third, NULL, 0, device));
	OK(cuCtxDestroy(third));
	TEST_EQ(cuCtxDestroy(third), CUDA_ERROR_INVALID_CONTEXT);
	TEST_EQ(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
	churn(ROUNDS);
	TEST_EQ(free_now(), before);
	OK(cuCtxDestroy(second));
	churn(ROUNDS);
}

/* A block goes to the context that it was of. */
static void in_turn(void)
{
	CUcontext second;

	OK(cuCtxCreate(&second, NULL, 0, device));
	for (int i = 0; i < 6; i++) {
		CUcontext owner = NULL;
		CUdeviceptr memory = 0;

		OK(cuCtxSetCurrent(i % 2 == 0 ? second : primary));
		OK(cuMemAlloc(&memory, BYTES));
		OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
		TEST_TRUE(owner == (i % 2 == 0 ? second : primary));
		OK(cuMemFree(memory));
		churn(ROUNDS);
	}
}

/* Resetting the device leaves created contexts alone, and all that is theirs. */
static void primary_reset(void)
{
	const size_t before = free_now();
	CUcontext second;

	for (int i = 0; i < 6; i++) {
		OK(cuCtxCreate(&second, NULL, 0, device));
		churn(ROUNDS);
		OK(cuCtxPushCurrent(primary));
		churn(ROUNDS);
		OK(cuDevicePrimaryCtxReset(device));
		TEST_EQ(free_now(), before);
		churn(ROUNDS);
		OK(cuCtxPopCurrent(NULL));
		churn(ROUNDS);
		OK(cuCtxDestroy(second));
	}
}

/* Only the last release ends a primary context. */
static void released(void)
{
	const size_t before = free_now();

	for (int i = 0; i < 6; i++) {
		churn(ROUNDS);
		for (int k = 0; k < 30; k++) {
			OK(cuDevicePrimaryCtxRetain(&primary, device));
			OK(cuDevicePrimaryCtxRelease(device));
		}
		TEST_EQ(free_now(), before);
		churn(ROUNDS);
		OK(cuDevicePrimaryCtxRelease(device));
		OK(cuDevicePrimaryCtxRetain(&primary, device));
		OK(cuCtxSetCurrent(primary));
		TEST_EQ(free_now(), before);
	}
}

/* Of two devices, what one held when the other was reset is as it was. */
static void other_reset(void)
{
	CUcontext there;

	OK(cuDevicePrimaryCtxRetain(&there, 1));
	for (int i = 0; i < 6; i++) {
		churn(ROUNDS);
		OK(cuCtxPushCurrent(there));
		churn(ROUNDS);
		OK(cuCtxPopCurrent(NULL));
		OK(cuDevicePrimaryCtxReset(1));
		churn(ROUNDS);
	}
}

static const struct rewrite_case cases[] = {
	{"created", created},
	{"created-aside", created_aside},
	{"created-capturing", created_capturing},
	{"not-destroyed", not_destroyed},
	{"in-turn", in_turn},
	{"primary-reset", primary_reset},
	{"released", released},
	{"other-reset", other_reset},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&primary, device));
	OK(cuCtxSetCurrent(primary));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
