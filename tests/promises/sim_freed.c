/* SPDX-License-Identifier: MIT */
/* Device memory that was freed is gone: copies refuse it, and a kernel that uses it fails. */
#include "sim_ptx.h"

#define SIZE ((size_t)4 << 20)
#define COUNT (SIZE / sizeof(int))

/* The device gives memory out by large pages, which small allocations share. */
static void check_granularity(size_t unit)
{
	size_t before, after, total;
	void *small[2], *large;

	OK(cudaMalloc(&small[0], 256));
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaMalloc(&small[1], 256));
	OK(cudaMemGetInfo(&after, &total));
	TEST_EQ(before - after, 0);
	OK(cudaMalloc(&large, unit + 1));
	OK(cudaMemGetInfo(&before, &total));
	TEST_EQ(after - before, 2 * unit);
	OK(cudaFree(large));
	OK(cudaFree(small[0]));
	OK(cudaFree(small[1]));
	OK(cudaMemGetInfo(&after, &total));
	TEST_EQ(after - before, 3 * unit);
}

static void launch(cudaKernel_t kernel, int *x)
{
	int n = COUNT, one = 1;
	void *args[] = {&x, &n, &one};

	OK(cudaLaunchKernel(kernel, (dim3){COUNT / 256, 1, 1}, (dim3){256, 1, 1}, args, 0, NULL));
}

int main(int argc, char **argv)
{
	int *x, *again;
	cudaKernel_t kernel;
	char host[64] = {0};
	int seen = 0;

	if (no_device())
		return test_skip("no device");
	if (argc > 1)
		check_granularity((size_t)atoi(argv[1]) << 20);
	OK(cudaLibraryGetKernel(&kernel, sim_ptx_load(), "add_one"));
	OK(cudaMalloc((void **)&x, SIZE));
	OK(cudaMemset(x, 0, SIZE));
	launch(kernel, x);
	OK(cudaFree(x));
	TEST_EQ(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	TEST_EQ(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
	cudaGetLastError();
	/* What is allocated in its place can be used. */
	OK(cudaMalloc((void **)&again, SIZE));
	OK(cudaMemset(again, 0, SIZE));
	launch(kernel, again);
	OK(cudaMemcpy(&seen, again + COUNT - 1, sizeof(seen), cudaMemcpyDeviceToHost));
	TEST_EQ(seen, 1);
	OK(cudaFree(again));
	launch(kernel, x);
	TEST_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	TEST_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
	return test_result();
}
