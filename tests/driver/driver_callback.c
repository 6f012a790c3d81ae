/* SPDX-License-Identifier: MIT */
/* A callback comes when all work before it is done, and before any work behind it. */
#include <cuda.h>
#include <stdatomic.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, CUDA_SUCCESS)

enum { BEFORE = 5, BEHIND = 9 };

struct called {
	CUstream stream;
	CUresult status;
	unsigned word;
	atomic_int times;
};

static unsigned *word; /* pinned; what the stream writes */

static void CUDA_CB note(CUstream stream, CUresult status, void *data)
{
	struct called *called = data;

	called->stream = stream;
	called->status = status;
	called->word = *word;
	atomic_fetch_add(&called->times, 1);
}

static void check_order(CUstream stream)
{
	struct called called = {.status = CUDA_ERROR_UNKNOWN};
	CUdeviceptr memory = 0;

	*word = 1;
	OK(cuMemAlloc(&memory, sizeof(*word)));
	OK(cuMemsetD32Async(memory, BEFORE, 1, stream));
	OK(cuMemcpyDtoHAsync(word, memory, sizeof(*word), stream));
	OK(cuStreamAddCallback(stream, note, &called, 0));
	OK(cuMemsetD32Async(memory, BEHIND, 1, stream));
	OK(cuMemcpyDtoHAsync(word, memory, sizeof(*word), stream));
	OK(cuStreamSynchronize(stream));
	TEST_EQ(called.times, 1);
	TEST_TRUE(called.stream == stream);
	TEST_EQ(called.status, CUDA_SUCCESS);
	TEST_EQ(called.word, BEFORE);
	TEST_EQ(*word, BEHIND);
	OK(cuMemFree(memory));
}

/* Nor can it be captured. */
static void check_refused(CUstream stream)
{
	struct called called = {.status = CUDA_ERROR_UNKNOWN};
	CUgraph graph = NULL;

	TEST_EQ(cuStreamAddCallback(stream, note, &called, 1), CUDA_ERROR_INVALID_VALUE);
	TEST_EQ(cuStreamAddCallback(stream, NULL, &called, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	TEST_EQ(cuStreamAddCallback(stream, note, &called, 0),
		CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	TEST_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamSynchronize(stream));
	TEST_EQ(called.times, 0);
}

int main(void)
{
	CUcontext context = NULL;
	CUdevice device = 0;
	CUstream stream = NULL;

	if (cuInit(0) != CUDA_SUCCESS)
		return test_skip("no device");
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuMemHostAlloc((void **)&word, sizeof(*word), 0));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	check_order(stream);
	check_refused(stream);
	OK(cuStreamDestroy(stream));
	OK(cuMemFreeHost(word));
	return test_result();
}
