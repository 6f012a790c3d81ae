/* SPDX-License-Identifier: MIT */
/* One thread captures a stream, another copies from pageable memory: the capture must survive, and
 * the copy must arrive. */
#include <pthread.h>

#include "tests/promises/sim_gate.h"

#define BYTES (256 << 10)

static char *device;
static char source[BYTES];

static void *copy(void *stream)
{
	OK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	return NULL;
}

int main(void)
{
	static char back[BYTES];
	cudaStream_t captured, other;
	cudaGraph_t graph = NULL;
	pthread_t thread;
	char *target;

	memset(source, 7, BYTES);
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMalloc((void **)&target, BYTES));
	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(target, 3, BYTES, captured));
	TEST_EQ(pthread_create(&thread, NULL, copy, other), 0);
	pthread_join(thread, NULL);
	OK(cudaStreamEndCapture(captured, &graph));
	TEST_TRUE(graph);
	OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 7, BYTES), 0);
	/* Outside a capture the same copy may be rewritten. */
	memset(source, 9, BYTES);
	copy(other);
	OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 9, BYTES), 0);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return test_result();
}
