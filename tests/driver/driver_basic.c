/* SPDX-License-Identifier: MIT */
/* A program on the driver alone: contexts, memory, streams, events, pointer attributes. */
#include <cuda.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, CUDA_SUCCESS)
#define WORDS 4096

static void check_errors(void)
{
	const char *text = NULL;

	OK(cuGetErrorName(CUDA_SUCCESS, &text));
	TEST_STR(text, "CUDA_SUCCESS");
	OK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
	TEST_STR(text, "CUDA_ERROR_INVALID_VALUE");
	OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
	TEST_STR(text, "invalid argument");
	OK(cuGetErrorName(CUDA_ERROR_UNKNOWN, &text));
	TEST_STR(text, "CUDA_ERROR_UNKNOWN");
	TEST_EQ(cuGetErrorString((CUresult)54321, &text), CUDA_ERROR_INVALID_VALUE);
	TEST_STR(text, NULL);
	TEST_EQ(cuGetErrorName(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_contexts(CUdevice device)
{
	CUcontext primary, seen = NULL;
	CUdeviceptr none;
	unsigned flags;
	int active = 1;

	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	TEST_EQ(active, 0);
	TEST_EQ(cuMemAlloc(&none, 16), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuDevicePrimaryCtxRetain(&primary, device));
	OK(cuCtxPushCurrent(primary));
	OK(cuCtxGetCurrent(&seen));
	TEST_TRUE(seen == primary);
	OK(cuCtxPopCurrent(&seen));
	TEST_TRUE(seen == primary);
	OK(cuCtxSetCurrent(primary));
	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	TEST_EQ(active, 1);
}

static void check_copies(void)
{
	static unsigned out[WORDS];
	CUdeviceptr a = 0, b = 0;
	unsigned *pinned = NULL;
	CUstream stream;
	unsigned i, wrong = 0;

	OK(cuMemAlloc(&a, sizeof(out)));
	OK(cuMemAlloc(&b, sizeof(out)));
	OK(cuMemHostAlloc((void **)&pinned, sizeof(out), 0));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (i = 0; pinned && i < WORDS; i++)
		pinned[i] = i * 7;
	OK(cuMemsetD32Async(a, 5, WORDS, stream));
	OK(cuMemcpyHtoDAsync(a, pinned, sizeof(out) / 2, stream));
	OK(cuMemcpyDtoDAsync(b, a, sizeof(out), stream));
	OK(cuMemcpyDtoHAsync(pinned, b, sizeof(out), stream));
	OK(cuStreamSynchronize(stream));
	for (i = 0; pinned && i < WORDS; i++)
		wrong += pinned[i] != (i < WORDS / 2 ? i * 7 : 5);
	TEST_EQ(wrong, 0);
	OK(cuMemcpyDtoH(out, b, sizeof(out)));
	TEST_EQ(out[WORDS - 1], 5);
	OK(cuStreamDestroy(stream));
	OK(cuMemFreeHost(pinned));
	OK(cuMemFree(a));
	OK(cuMemFree(b));
	TEST_EQ(cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
}

static void check_pointers(CUdevice device)
{
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	unsigned type = 99;
	int ordinal = 99;
	size_t size = 99;
	void *data[] = {&type, &ordinal, &size};
	CUdeviceptr memory, base;
	void *pinned;
	int local = 0;

	OK(cuMemAlloc(&memory, 1000));
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 10));
	TEST_EQ(type, CU_MEMORYTYPE_DEVICE);
	OK(cuMemGetAddressRange(&base, &size, memory + 999));
	TEST_EQ(base, memory);
	TEST_EQ(size, 1000);
	OK(cuMemHostAlloc(&pinned, 64, 0));
	TEST_EQ(cuMemHostGetDevicePointer(&base, &local, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostGetDevicePointer(&base, pinned, 0));
	TEST_EQ(base, (uintptr_t)pinned);
	OK(cuPointerGetAttribute(
		&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)pinned));
	TEST_EQ(type, CU_MEMORYTYPE_HOST);
	TEST_EQ(cuPointerGetAttribute(
			&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&local),
		CUDA_ERROR_INVALID_VALUE);
	/* The plural form answers for memory that the driver does not know, too. */
	OK(cuPointerGetAttributes(3, wanted, data, (CUdeviceptr)(uintptr_t)&local));
	TEST_EQ(type, 0);
	TEST_EQ(ordinal, -2);
	TEST_EQ(size, 0);
	OK(cuPointerGetAttributes(3, wanted, data, memory));
	TEST_EQ(type, CU_MEMORYTYPE_DEVICE);
	TEST_EQ(ordinal, device);
	OK(cuMemFreeHost(pinned));
	OK(cuMemFree(memory));
}

static void check_capture(void)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUgraphExec exec;
	CUdeviceptr memory;
	CUstream stream;
	CUgraph graph;
	unsigned word = 0;

	OK(cuMemAlloc(&memory, 4));
	OK(cuMemsetD32(memory, 1, 1));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamIsCapturing(stream, &status));
	TEST_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuStreamIsCapturing(stream, &status));
	TEST_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	TEST_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	TEST_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuMemsetD32Async(memory, 9, 1, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuMemcpyDtoH(&word, memory, 4));
	TEST_EQ(word, 1);
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH(&word, memory, 4));
	TEST_EQ(word, 9);
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
	OK(cuStreamDestroy(stream));
	OK(cuMemFree(memory));
}

static void check_kernels(void)
{
	static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
				  ".visible .entry twice(.param .u64 data, .param .u32 count)\n"
				  "{\n\tret;\n}\n";
	size_t offset = 99, size = 99;
	const char *name = NULL;
	CUdeviceptr data = 0;
	CUfunction function;
	unsigned count = 1;
	void *args[] = {&data, &count};
	CUmodule module;

	OK(cuModuleLoadData(&module, ptx));
	TEST_EQ(cuModuleGetFunction(&function, module, "thrice"), CUDA_ERROR_NOT_FOUND);
	if (!OK(cuModuleGetFunction(&function, module, "twice")))
		return;
	OK(cuFuncGetName(&name, function));
	TEST_STR(name, "twice");
	OK(cuFuncGetParamInfo(function, 1, &offset, &size));
	TEST_EQ(offset, 8);
	TEST_EQ(size, 4);
	TEST_EQ(cuFuncGetParamInfo(function, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
	TEST_EQ(cuLaunchKernel(function, 1, 1, 1, 4096, 1, 1, 0, NULL, args, NULL),
		CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxSynchronize());
	OK(cuModuleUnload(module));
}

static void check_peers(int count)
{
	CUcontext here, there;
	CUdeviceptr a, b;
	unsigned word = 0;

	if (count < 2)
		return;
	OK(cuCtxGetCurrent(&here));
	OK(cuDevicePrimaryCtxRetain(&there, 1));
	OK(cuMemAlloc(&a, 4));
	OK(cuMemsetD32(a, 11, 1));
	OK(cuCtxPushCurrent(there));
	OK(cuMemAlloc(&b, 4));
	OK(cuMemcpyPeer(b, there, a, here, 4));
	OK(cuMemcpyDtoH(&word, b, 4));
	TEST_EQ(word, 11);
	OK(cuMemFree(b));
	OK(cuCtxPopCurrent(&there));
	OK(cuMemFree(a));
	OK(cuDevicePrimaryCtxRelease(1));
}

static void expect_current(CUcontext context)
{
	CUcontext seen = NULL;

	OK(cuCtxGetCurrent(&seen));
	TEST_TRUE(seen == context);
}

/* What was current before is so again; setting one takes the place of the last. */
static void check_stack(CUdevice device, int count)
{
	CUcontext first = NULL, made[2] = {NULL, NULL}, seen = NULL;
	unsigned long long id[2] = {0, 0}, again = 0;
	unsigned version = 0;

	OK(cuCtxGetCurrent(&first));
	OK(cuCtxCreate(&made[0], NULL, 0, device));
	OK(cuCtxCreate(&made[1], NULL, 0, device));
	TEST_TRUE(made[0] != made[1]);
	OK(cuCtxPushCurrent(first));
	expect_current(first);
	OK(cuCtxPopCurrent(&seen));
	TEST_TRUE(seen == first);
	expect_current(made[1]);
	OK(cuCtxPopCurrent(&seen));
	TEST_TRUE(seen == made[1]);
	expect_current(made[0]);
	OK(cuCtxSetCurrent(made[1]));
	expect_current(made[1]);
	OK(cuCtxPopCurrent(NULL));
	expect_current(first);
	OK(cuCtxGetId(made[0], &id[0]));
	OK(cuCtxGetId(made[1], &id[1]));
	OK(cuCtxGetId(made[0], &again));
	TEST_TRUE(id[0] != id[1] && id[0] == again);
	OK(cuCtxGetApiVersion(made[0], &version));
	TEST_TRUE(version > 0);
	OK(cuCtxDestroy(made[0]));
	OK(cuCtxDestroy(made[1]));
	expect_current(first);
	TEST_EQ(cuCtxCreate(&seen, NULL, 0, -1), CUDA_ERROR_INVALID_DEVICE);
	TEST_EQ(cuCtxCreate(&seen, NULL, 0, count), CUDA_ERROR_INVALID_DEVICE);
	TEST_EQ(cuCtxGetCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
	expect_current(first);
}

static void check_priorities(void)
{
	int least = 99, greatest = 99, priority = 99;
	CUstream stream;

	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	TEST_EQ(least, 0);
	TEST_TRUE(greatest < least);
	OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest - 1));
	OK(cuStreamGetPriority(stream, &priority));
	TEST_EQ(priority, greatest);
	OK(cuStreamDestroy(stream));
}

/* What a context owns goes with it, and nothing of another. */
static void check_ends(CUdevice device)
{
	CUcontext first, second, owner = NULL, seen = NULL;
	CUdeviceptr kept = 0, lost = 0;
	unsigned word = 0;

	OK(cuCtxGetCurrent(&first));
	OK(cuMemAlloc(&kept, 4096));
	OK(cuMemsetD32(kept, 3, 1024));
	OK(cuCtxCreate(&second, NULL, 0, device));
	OK(cuCtxGetCurrent(&seen));
	TEST_TRUE(seen == second);
	OK(cuMemAlloc(&lost, 4096));
	OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, lost));
	TEST_TRUE(owner == second);
	OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, kept));
	TEST_TRUE(owner == first);
	OK(cuCtxDestroy(second));
	OK(cuCtxGetCurrent(&seen));
	TEST_TRUE(seen == first);
	TEST_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, lost),
		CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpyDtoH(&word, kept, 4));
	TEST_EQ(word, 3);
	OK(cuMemFree(kept));
}

/* The last release ends a primary context. */
static void check_release(CUdevice device)
{
	CUdeviceptr memory = 0;
	CUcontext owner;
	unsigned flags;
	int active = 1;

	OK(cuMemAlloc(&memory, 4096));
	OK(cuDevicePrimaryCtxRetain(&owner, device));
	OK(cuDevicePrimaryCtxRelease(device));
	OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
	OK(cuDevicePrimaryCtxRelease(device));
	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	TEST_EQ(active, 0);
	TEST_EQ(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
}

static void log_message(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)data, (void)level, (void)message, (void)length;
}

static void check_logs(void)
{
	CUlogsCallbackHandle one, other;
	CUlogIterator end = 77;
	char text[4] = "abc";
	size_t size = sizeof(text);

	OK(cuLogsRegisterCallback(log_message, NULL, &one));
	OK(cuLogsRegisterCallback(log_message, NULL, &other));
	TEST_TRUE(one != other);
	OK(cuLogsUnregisterCallback(one));
	OK(cuLogsUnregisterCallback(other));
	OK(cuLogsRegisterCallback(log_message, NULL, NULL));
	TEST_EQ(cuLogsUnregisterCallback(NULL), CUDA_ERROR_INVALID_VALUE);
	TEST_EQ(cuLogsRegisterCallback(NULL, NULL, &one), CUDA_ERROR_INVALID_VALUE);
	OK(cuLogsCurrent(&end, 0));
	OK(cuLogsDumpToMemory(&end, text, &size, 0));
	TEST_EQ(size, strlen(text));
	TEST_EQ(cuLogsCurrent(&end, 1), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
	int count = 0;

	CUdevice device;
	int major = 0;

	if (cuInit(0) != CUDA_SUCCESS)
		return test_skip("no device");
	OK(cuDeviceGet(&device, 0));
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	TEST_IN(major, 5, 20);
	check_errors();
	check_contexts(device);
	check_copies();
	check_pointers(device);
	check_capture();
	check_kernels();
	OK(cuDeviceGetCount(&count));
	check_peers(count);
	check_stack(device, count);
	check_priorities();
	check_ends(device);
	check_release(device);
	check_logs();
	return test_result();
}
