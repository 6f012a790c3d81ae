/* SPDX-License-Identifier: MIT */
/* A program that forks between its launches: the child inherits what the shim and CUPTI hold, calls
 * CUDA in vain, and leaves by exit. */
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

static void work(void *device, unsigned times)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	int word = 7;
	unsigned i;

	for (i = 0; i < times; i++) {
		TEST_EQ(cudaMemsetAsync(device, 0, 4096, NULL), cudaSuccess);
		TEST_EQ(cudaMemcpy(device, &word, sizeof(word), cudaMemcpyHostToDevice),
			cudaSuccess);
		nanosleep(&pause, NULL);
	}
}

int main(void)
{
	void *device, *other;
	int status = -1;
	pid_t child;

	if (cudaMalloc(&device, 4096) != cudaSuccess)
		return test_skip("no device");
	work(device, 100);
	child = fork();
	if (child == 0) {
		TEST_TRUE(cudaMalloc(&other, 16) != cudaSuccess);
		TEST_TRUE(cudaMemset(device, 0, 16) != cudaSuccess);
		exit(test_result());
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(status, 0);
	work(device, 20);
	TEST_EQ(cudaFree(device), cudaSuccess);
	return test_result();
}
