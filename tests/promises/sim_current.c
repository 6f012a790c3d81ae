/* SPDX-License-Identifier: MIT */
/*
 * When the runtime has made the primary context, and the driver finds it current, by the first call
 * of a program:
 *	sim_current CALL
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <string.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, cudaSuccess)

static void ask(void)
{
	struct cudaDeviceProp properties;
	int number, driver = 0, runtime = 0;

	OK(cudaGetDeviceCount(&number));
	OK(cudaGetDevice(&number));
	OK(cudaGetDeviceProperties(&properties, 0));
	OK(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0));
	OK(cudaDriverGetVersion(&driver));
	OK(cudaRuntimeGetVersion(&runtime));
	TEST_IN(runtime, 11000, 99999);
	TEST_IN(driver, runtime, 99999);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
}

static void free_nothing(void)
{
	OK(cudaFree(NULL));
}

static void set(void)
{
	OK(cudaSetDevice(0));
}

static void begin(void)
{
	OK(cudaInitDevice(0, 0, 0));
}

static void wait_for_all(void)
{
	OK(cudaDeviceSynchronize());
}

static void free_memory(void)
{
	size_t available, total;

	OK(cudaMemGetInfo(&available, &total));
}

static void limit(void)
{
	size_t bytes;

	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
}

static void event(void)
{
	cudaEvent_t made;

	OK(cudaEventCreate(&made));
}

static void pin(void)
{
	void *memory;

	OK(cudaMallocHost(&memory, 4096));
}

static void manage(void)
{
	void *memory;

	OK(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
}

/* Made, cudaInitDevice() says, and not current. */
enum after { NONE, MADE, CURRENT };

static const struct {
	const char *name;
	void (*run)(void);
	enum after after;
} calls[] = {
	{"ask", ask, NONE},
	{"event", event, CURRENT},
	{"free", free_nothing, CURRENT},
	{"init", begin, MADE},
	{"limit", limit, CURRENT},
	{"managed", manage, CURRENT},
	{"memory", free_memory, CURRENT},
	{"pinned", pin, CURRENT},
	{"set", set, CURRENT},
	{"wait", wait_for_all, CURRENT},
};

static void check(void (*run)(void), enum after after)
{
	const CUresult expected = after == CURRENT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
	CUcontext context = NULL;
	unsigned flags;
	int active = 2;
	CUdeviceptr memory;
	CUdevice device;

	OK(cuInit(0));
	OK(cuCtxGetCurrent(&context));
	TEST_TRUE(!context);
	TEST_EQ(cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
	run();
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	TEST_EQ(active, after != NONE);
	OK(cuCtxGetCurrent(&context));
	TEST_EQ(context != NULL, after == CURRENT);
	TEST_EQ(cuCtxGetDevice(&device), expected);
	TEST_EQ(cuMemAlloc(&memory, 16), expected);
}

int main(int count, char **words)
{
	int number = 0;

	if (count != 2)
		return 2;
	if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&number) != CUDA_SUCCESS || number == 0)
		return test_skip("no device");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(words[1], calls[i].name) == 0) {
			check(calls[i].run, calls[i].after);
			return test_result();
		}
	return 2;
}
