/* SPDX-License-Identifier: MIT */
/*
 * Prints elapsed times of a few patterns. On the simulated device every run prints the same,
 * whatever else the machine does; the test runs it twice and compares.
 */
#include "sim_ptx.h"

#define SIZE ((size_t)8 << 20)

static cudaStream_t stream, second;
static cudaEvent_t start, end, between;
static char *device, *pinned, *pageable;

static float finish(const char *what)
{
	float ms = -1;

	OK(cudaEventRecord(end, stream));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	TEST_TRUE(ms > 0);
	printf("%s %.6f ms\n", what, (double)ms);
	return ms;
}

static float copies(const char *what, void *source, size_t size)
{
	OK(cudaEventRecord(start, stream));
	for (int i = 0; i < 4; i++)
		OK(cudaMemcpyAsync(device, source, size, cudaMemcpyHostToDevice, stream));
	return finish(what);
}

static float steps(const char *what, bool wait, const void *kernel)
{
	int *x = (int *)device, n = 1 << 20, one = 1;
	void *args[] = {&x, &n, &one};

	OK(cudaEventRecord(start, stream));
	for (int i = 0; i < 16; i++) {
		OK(cudaLaunchKernel(
			kernel, (dim3){4096, 1, 1}, (dim3){256, 1, 1}, args, 0, stream));
		if (wait)
			OK(cudaStreamSynchronize(stream));
	}
	return finish(what);
}

/* The copy goes on beside the kernel, so both take little more than the longer one. */
static float overlap(const void *kernel)
{
	int *x = (int *)device, n = 1 << 20, one = 1;
	void *args[] = {&x, &n, &one};

	OK(cudaEventRecord(start, stream));
	OK(cudaStreamWaitEvent(second, start, 0));
	OK(cudaMemcpyAsync(device + SIZE, pinned, SIZE, cudaMemcpyHostToDevice, second));
	OK(cudaEventRecord(between, second));
	for (int i = 0; i < 4; i++)
		OK(cudaLaunchKernel(
			kernel, (dim3){4096, 1, 1}, (dim3){256, 1, 1}, args, 0, stream));
	OK(cudaStreamWaitEvent(stream, between, 0));
	return finish("overlap");
}

int main(void)
{
	float fast, slow, small, busy, idle, both, copy;
	cudaLibrary_t library;
	cudaKernel_t kernel;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaEventCreate(&between));
	OK(cudaMalloc((void **)&device, 2 * SIZE));
	OK(cudaMallocHost((void **)&pinned, SIZE));
	pageable = calloc(1, SIZE);
	library = sim_ptx_load();
	OK(cudaLibraryGetKernel(&kernel, library, "add_one"));
	steps("warm-up", true, kernel);
	fast = copies("pinned", pinned, SIZE);
	slow = copies("pageable", pageable, SIZE);
	small = copies("small", pinned, 1024);
	TEST_TRUE(slow > fast && fast > small);
	busy = steps("queued", false, kernel);
	idle = steps("awaited", true, kernel);
	TEST_TRUE(idle > busy);
	copy = copies("alone", pinned, SIZE) / 4;
	both = overlap(kernel);
	TEST_TRUE(both < copy + busy / 4);
	return test_result();
}
