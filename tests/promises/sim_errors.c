/* SPDX-License-Identifier: MIT */
/* The last error, and what odd arguments get. */
#include <pthread.h>

#include "sim_gate.h"

static char *device;

static void *fresh_thread(void *unused)
{
	TEST_EQ(cudaPeekAtLastError(), cudaSuccess);
	TEST_EQ(cudaSetDevice(12345), cudaErrorInvalidDevice);
	TEST_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	return unused;
}

static void check_last_error(void)
{
	pthread_t thread;

	TEST_EQ(cudaGetLastError(), cudaSuccess);
	TEST_EQ(cudaMemcpy(NULL, device, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
	/* Success does not clear it, looking does not, a second failure replaces it. */
	OK(cudaMemset(device, 0, 4));
	TEST_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
	TEST_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
	TEST_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
	pthread_create(&thread, NULL, fresh_thread, NULL);
	pthread_join(thread, NULL);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	/* None of these is sticky. */
	OK(cudaDeviceSynchronize());
}

static void check_nothing_to_do(void)
{
	void *nothing = device;

	OK(cudaMemcpy(device, device, 0, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpyAsync(device, device, 0, cudaMemcpyDefault, NULL));
	OK(cudaMemset(device, 1, 0));
	OK(cudaMalloc(&nothing, 0));
	TEST_TRUE(!nothing);
	OK(cudaFree(NULL));
	TEST_EQ(cudaGetLastError(), cudaSuccess);
}

static void check_copies(void)
{
	char host[64] = {0};

	TEST_EQ(cudaMemcpy(device, host, 64, (enum cudaMemcpyKind)9),
		cudaErrorInvalidMemcpyDirection);
	TEST_EQ(cudaMemcpyAsync(device, NULL, 64, cudaMemcpyHostToDevice, NULL),
		cudaErrorInvalidValue);
	TEST_EQ(cudaMemcpy(host, host + 32, 32, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	TEST_EQ(cudaMemset(host, 0, 64), cudaErrorInvalidValue);
	OK(cudaMemcpy(device, host, 64, cudaMemcpyDefault));
	OK(cudaMemcpy(host, device, 64, cudaMemcpyDefault));
	TEST_EQ(cudaMemcpy2D(device, 8, host, 8, 16, 2, cudaMemcpyHostToDevice),
		cudaErrorInvalidPitchValue);
	(void)cudaGetLastError();
}

static void check_memory(void)
{
	char host[64];
	void *memory;

	TEST_EQ(cudaMalloc(NULL, 64), cudaErrorInvalidValue);
	TEST_EQ(cudaFree(host), cudaErrorInvalidValue);
	TEST_EQ(cudaFree(device + 256), cudaErrorInvalidValue);
	TEST_EQ(cudaFreeHost(host), cudaErrorInvalidValue);
	TEST_EQ(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
	OK(cudaMalloc(&memory, 64));
	OK(cudaFree(memory));
	TEST_EQ(cudaFree(memory), cudaErrorInvalidValue);
	(void)cudaGetLastError();
	TEST_EQ(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
	TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
	OK(cudaMalloc(&memory, 64));
	OK(cudaFree(memory));
}

static void check_handles(void)
{
	cudaEvent_t event;
	cudaStream_t stream;
	float ms;

	TEST_EQ(cudaStreamCreateWithFlags(&stream, 77), cudaErrorInvalidValue);
	TEST_EQ(cudaEventCreateWithFlags(&event, 0x400), cudaErrorInvalidValue);
	TEST_EQ(cudaEventRecord(NULL, NULL), cudaErrorInvalidResourceHandle);
	TEST_EQ(cudaEventSynchronize(NULL), cudaErrorInvalidResourceHandle);
	TEST_EQ(cudaEventElapsedTime(&ms, NULL, NULL), cudaErrorInvalidResourceHandle);
	TEST_EQ(cudaLaunchHostFunc(NULL, NULL, NULL), cudaErrorInvalidValue);
	TEST_EQ(cudaGetDeviceCount(NULL), cudaErrorInvalidValue);
	(void)cudaGetLastError();
}

static void check_texts(void)
{
	TEST_STR(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
	TEST_STR(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
	TEST_STR(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
	TEST_STR(cudaGetErrorName(cudaErrorTimeout), "cudaErrorTimeout");
	TEST_STR(cudaGetErrorString(cudaErrorTimeout), "wait operation timed out");
	TEST_STR(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	OK(cudaMalloc((void **)&device, 4096));
	check_last_error();
	check_nothing_to_do();
	check_copies();
	check_memory();
	check_handles();
	check_texts();
	return test_result();
}
