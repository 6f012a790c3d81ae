/* SPDX-License-Identifier: MIT */
/* cudaDeviceReset gives everything back, and the device can be used again. After a fork: not. */
#include <sys/wait.h>
#include <unistd.h>

#include "sim_gate.h"

static int in_child(void)
{
	void *memory;

	return cudaMalloc(&memory, 64) == cudaErrorInitializationError ? 0 : 1;
}

int main(void)
{
	size_t before, after, total;
	void *memory, *pinned;
	cudaStream_t stream;
	int status = -1;
	char back[64];
	pid_t child;

	if (no_device())
		return test_skip("no device");
	OK(cudaFree(NULL));
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaMalloc(&memory, 64 << 20));
	OK(cudaMallocHost(&pinned, 4096));
	OK(cudaStreamCreate(&stream));
	OK(cudaMemsetAsync(memory, 1, 64, stream));
	OK(cudaDeviceReset());
	OK(cudaMemGetInfo(&after, &total));
	TEST_EQ(after, before);
	OK(cudaMalloc(&memory, 64));
	OK(cudaStreamCreate(&stream));
	OK(cudaMemsetAsync(memory, 2, 64, stream));
	OK(cudaMemcpy(back, memory, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 2, 64), 0);
	child = fork();
	if (child == 0)
		_exit(in_child());
	waitpid(child, &status, 0);
	TEST_TRUE(WIFEXITED(status));
	TEST_EQ(WEXITSTATUS(status), 0);
	OK(cudaMemset(memory, 0, 64));
	return test_result();
}
