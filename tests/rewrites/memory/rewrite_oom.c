/* SPDX-License-Identifier: MIT */
/* Halves the batch until it fits the device, and copies in between: the program finds exactly the
 * error of the allocation when it asks for it, once, and nothing is left behind. */
#include "tests/promises/sim_gate.h"

#define BYTES ((size_t)3 << 20)

static char *device;

static void send(int value)
{
	static char source[BYTES], back[BYTES];

	memset(source, value, BYTES);
	OK(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
	memset(source, 0x55, BYTES);
	OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, value, BYTES), 0);
}

int main(void)
{
	size_t rest, all, bytes;
	void *batch = NULL;
	int tries = 0;

	alarm(300);
	/* Of the simulated device. */
	setenv("TFSIM_MEMORY", "64m", 1);
	OK(cudaMalloc((void **)&device, BYTES));
	for (int round = 0; round < 3; round++) {
		OK(cudaMemGetInfo(&rest, &all));
		for (bytes = 4 * all; cudaMalloc(&batch, bytes) != cudaSuccess; bytes /= 2) {
			send(10 * round + ++tries);
			TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
			TEST_EQ(cudaGetLastError(), cudaSuccess);
		}
		send(100 + round);
		TEST_EQ(cudaGetLastError(), cudaSuccess);
		OK(cudaFree(batch));
	}
	TEST_TRUE(tries >= 6);
	return test_result();
}
