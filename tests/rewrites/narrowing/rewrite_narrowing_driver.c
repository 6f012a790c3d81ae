/* SPDX-License-Identifier: MIT */
/*
 * Waits by the driver's functions: what rewrite_narrowing.c says of the runtime's holds for these.
 * With "two-contexts" once in a second context; with "named" the waits name the context, which with
 * "named-null" is the current one and with "named-other" is not. Or with events of the context as a
 * whole, or beside a green context.
 */
#include <cuda.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, CUDA_SUCCESS)
#define BYTES (1u << 20)
#define ROUNDS 40

static bool named;
static CUcontext waited_for;

static void wait_for_device(void)
{
	OK(named ? cuCtxSynchronize_v2(waited_for) : cuCtxSynchronize());
}

int main(int count, char **words)
{
	CUdeviceptr big, copy, target;
	CUstream one, other;
	CUcontext context, second;
	CUgreenCtx part;
	CUevent event;
	char *pinned, *result;

	const char *kind = count > 1 ? words[1] : "";
	const bool whole = strcmp(kind, "context-events") == 0;
	const bool two = strcmp(kind, "two-contexts") == 0;

	alarm(300);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	if (strcmp(kind, "green-context") == 0)
		OK(cuGreenCtxCreate(&part, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	if (two || strcmp(kind, "named-other") == 0) {
		OK(cuCtxCreate(&second, NULL, 0, 0));
		if (two)
			OK(cuCtxSynchronize());
		OK(cuCtxPopCurrent(&second));
	}
	named = strncmp(kind, "named", 5) == 0;
	waited_for = strcmp(kind, "named-other") == 0 ? second
		     : strcmp(kind, "named") == 0     ? context
						      : NULL;
	OK(cuStreamCreate(&one, CU_STREAM_DEFAULT));
	OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(cuMemAlloc(&big, BYTES));
	OK(cuMemAlloc(&copy, BYTES));
	OK(cuMemAlloc(&target, BYTES));
	OK(cuMemAllocHost((void **)&pinned, BYTES));
	OK(cuMemAllocHost((void **)&result, BYTES));
	for (int i = 1; i <= ROUNDS; i++) {
		memset(pinned, i, BYTES);
		for (int k = 0; k < 12; k++)
			OK(cuMemcpyDtoDAsync(copy, big, BYTES, one));
		OK(cuMemsetD8Async(big, (unsigned char)i, BYTES, one));
		OK(whole ? cuCtxRecordEvent(context, event) : cuEventRecord(event, one));
		if (whole)
			OK(cuCtxWaitEvent(context, event));
		OK(cuMemcpyHtoDAsync(target, pinned, BYTES, other));
		wait_for_device();
		memset(pinned, 0xee, BYTES);
		OK(cuEventQuery(event));
		OK(cuMemcpyDtoHAsync(result, big, BYTES, other));
		OK(cuStreamSynchronize(other));
		OK(cuStreamSynchronize(other));
		TEST_TRUE(result[0] == (char)i && memcmp(result, result + 1, BYTES - 1) == 0);
		OK(cuMemcpyDtoH(result, target, BYTES));
		TEST_TRUE(result[0] == (char)i && memcmp(result, result + 1, BYTES - 1) == 0);
		wait_for_device();
		wait_for_device();
		OK(cuEventSynchronize(event));
	}
	return test_result();
}
