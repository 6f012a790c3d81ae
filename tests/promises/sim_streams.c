/* SPDX-License-Identifier: MIT */
/* Streams tell what they were made with; callbacks take their place in them. */
#include "sim_gate.h"

static void check_priorities(void)
{
	int least = 99, greatest = 99, priority = 99;
	const int beyond = 7;
	unsigned flags = 99;
	cudaStream_t stream;

	OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	TEST_EQ(least, 0);
	TEST_TRUE(greatest < least);
	OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest + 1));
	OK(cudaStreamGetPriority(stream, &priority));
	TEST_EQ(priority, greatest + 1);
	OK(cudaStreamGetFlags(stream, &flags));
	TEST_EQ(flags, cudaStreamNonBlocking);
	OK(cudaStreamDestroy(stream));
	/* What is out of the range becomes the nearest that is in it. */
	OK(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest - beyond));
	OK(cudaStreamGetPriority(stream, &priority));
	TEST_EQ(priority, greatest);
	OK(cudaStreamGetFlags(stream, &flags));
	TEST_EQ(flags, cudaStreamDefault);
	OK(cudaStreamDestroy(stream));
	OK(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, least + beyond));
	OK(cudaStreamGetPriority(stream, &priority));
	TEST_EQ(priority, least);
	OK(cudaStreamDestroy(stream));
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamGetPriority(stream, &priority));
	TEST_EQ(priority, 0);
	OK(cudaStreamDestroy(stream));
	TEST_EQ(cudaStreamCreateWithPriority(&stream, 2, 0), cudaErrorInvalidValue);
	(void)cudaGetLastError();
}

/* Each has a number of its own, which it keeps; stream 0 is the legacy one. */
static void check_numbers(void)
{
	unsigned long long id[5] = {0}, again = 99;
	cudaStream_t made[2];

	OK(cudaStreamCreate(&made[0]));
	OK(cudaStreamCreate(&made[1]));
	OK(cudaStreamGetId(made[0], &id[0]));
	OK(cudaStreamGetId(made[1], &id[1]));
	OK(cudaStreamGetId(cudaStreamLegacy, &id[2]));
	OK(cudaStreamGetId(cudaStreamPerThread, &id[3]));
	OK(cudaStreamGetId(NULL, &id[4]));
	TEST_EQ(id[4], id[2]);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < i; k++)
			TEST_TRUE(id[i] != id[k]);
	OK(cudaStreamGetId(made[0], &again));
	TEST_EQ(again, id[0]);
	OK(cudaStreamDestroy(made[0]));
	OK(cudaStreamDestroy(made[1]));
}

/* Of the device on which it was made, whichever is current. */
static void check_device(void)
{
	int count = 0, device = 99;
	cudaStream_t stream;

	OK(cudaGetDeviceCount(&count));
	OK(cudaSetDevice(count - 1));
	OK(cudaStreamCreate(&stream));
	OK(cudaSetDevice(0));
	OK(cudaStreamGetDevice(stream, &device));
	TEST_EQ(device, count - 1);
	OK(cudaStreamGetDevice(NULL, &device));
	TEST_EQ(device, 0);
	OK(cudaStreamDestroy(stream));
}

struct called {
	cudaStream_t stream;
	cudaError_t status;
	atomic_int times;
};

static void CUDART_CB note(cudaStream_t stream, cudaError_t status, void *data)
{
	struct called *called = data;

	called->stream = stream;
	called->status = status;
	atomic_fetch_add(&called->times, 1);
}

static void check_callback(void)
{
	static struct called called = {.status = cudaErrorUnknown};
	static struct gate gate;
	cudaGraph_t graph = NULL;
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	gate_close(&gate, stream);
	OK(cudaStreamAddCallback(stream, note, &called, 0));
	TEST_EQ(called.times, 0);
	TEST_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(called.times, 1);
	TEST_TRUE(called.stream == stream);
	TEST_EQ(called.status, cudaSuccess);
	TEST_EQ(cudaStreamAddCallback(stream, note, &called, 1), cudaErrorInvalidValue);
	TEST_EQ(cudaStreamAddCallback(stream, NULL, &called, 0), cudaErrorInvalidValue);
	/* Not one that can be captured. */
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	TEST_EQ(cudaStreamAddCallback(stream, note, &called, 0), cudaErrorStreamCaptureUnsupported);
	TEST_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(called.times, 1);
	(void)cudaGetLastError();
	OK(cudaStreamDestroy(stream));
}

static void check_attached(void)
{
	void *managed, *memory;
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
	OK(cudaMalloc(&memory, 64));
	OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle),
		cudaErrorInvalidValue);
	(void)cudaGetLastError();
	OK(cudaFree(managed));
	OK(cudaFree(memory));
	OK(cudaStreamDestroy(stream));
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	check_priorities();
	check_numbers();
	check_device();
	check_callback();
	check_attached();
	return test_result();
}
