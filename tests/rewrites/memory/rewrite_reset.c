/* SPDX-License-Identifier: MIT */
/* Resets the device between copies: what a rewrite kept on it is gone. */
#include "tests/promises/sim_gate.h"

#define BYTES ((size_t)(3 << 20) + 77)

int main(void)
{
	char *source = malloc(BYTES), *back = malloc(BYTES);
	char *device;

	alarm(300);
	for (int i = 1; i <= 4; i++) {
		OK(cudaMalloc((void **)&device, BYTES));
		for (int k = 0; k < 2; k++) {
			memset(source, 10 * i + k, BYTES);
			OK(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
			memset(source, 0x55, BYTES);
			OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
			TEST_EQ(wrong_bytes(back, 10 * i + k, BYTES), 0);
		}
		OK(cudaDeviceReset());
		TEST_EQ(cudaGetLastError(), cudaSuccess);
	}
	return test_result();
}
