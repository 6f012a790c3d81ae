/* SPDX-License-Identifier: MIT */
/* Copies to two devices in turn, some on a stream, or to memory, of the device that is not the
 * current one. */
#include "tests/promises/sim_gate.h"

#define BYTES ((size_t)(3 << 20) + 5)
#define ROUNDS 4

static char *device[2];
static cudaStream_t stream[2];

static void send(int target, cudaStream_t on, int value)
{
	static char source[BYTES], back[BYTES];

	memset(source, value, BYTES);
	if (on)
		OK(cudaMemcpyAsync(device[target], source, BYTES, cudaMemcpyHostToDevice, on));
	else
		OK(cudaMemcpy(device[target], source, BYTES, cudaMemcpyHostToDevice));
	memset(source, 0x55, BYTES);
	if (on)
		OK(cudaStreamSynchronize(on));
	OK(cudaMemcpy(back, device[target], BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, value, BYTES), 0);
}

int main(void)
{
	int count = 0;

	alarm(300);
	/* Of the simulated device. */
	setenv("TFSIM_DEVICES", "2", 1);
	if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2)
		return test_skip("needs two devices");
	for (int i = 0; i < 2; i++) {
		OK(cudaSetDevice(i));
		OK(cudaMalloc((void **)&device[i], BYTES));
		OK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 2; i++) {
			OK(cudaSetDevice(i));
			send(i, NULL, 40 * i + 8 * round + 1);
			send(i, stream[i], 40 * i + 8 * round + 2);
			send(i, stream[1 - i], 40 * i + 8 * round + 3);
			send(1 - i, NULL, 40 * i + 8 * round + 4);
		}
	}
	OK(cudaSetDevice(0));
	OK(cudaDeviceReset());
	OK(cudaSetDevice(1));
	send(1, NULL, 99);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return test_result();
}
