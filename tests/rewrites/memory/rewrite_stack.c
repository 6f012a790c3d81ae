/* SPDX-License-Identifier: MIT */
/* Copies from a buffer on the stack, returns, and uses the stack again: the copy must have read
 * every byte before it returned. */
#include <string.h>

#include "tests/promises/sim_gate.h"

#define BYTES (256 << 10)
#define ROUNDS 20

static char *device;
static cudaStream_t stream;

static __attribute__((noinline)) void send(int value)
{
	char buffer[BYTES];

	memset(buffer, value, sizeof(buffer));
	OK(cudaMemcpyAsync(device, buffer, sizeof(buffer), cudaMemcpyHostToDevice, stream));
}

static __attribute__((noinline)) int reuse(int value)
{
	volatile char buffer[BYTES + 4096];

	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (char)value;
	return buffer[100];
}

int main(void)
{
	static char back[BYTES];

	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaStreamCreate(&stream));
	for (int i = 1; i <= ROUNDS; i++) {
		send(i);
		reuse(0x55);
		OK(cudaMemcpyAsync(back, device, BYTES, cudaMemcpyDeviceToHost, stream));
		OK(cudaStreamSynchronize(stream));
		TEST_EQ(wrong_bytes(back, i, BYTES), 0);
	}
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(device));
	return test_result();
}
