/* SPDX-License-Identifier: MIT */
/* One stream is held up, with copies on it that have returned; a copy on another stream must not
 * wait for those: the program lets the first stream go on only after the second has finished. */
#include "tests/programs/sim_gate.h"

#define BYTES ((size_t)16 << 20) /* all that a ring holds */
#define SMALL ((size_t)300 << 10)

int main(void)
{
	cudaStream_t held, other;
	struct gate gate;
	char *source = malloc(BYTES), *back = malloc(BYTES);
	char *device, *small;

	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMalloc((void **)&small, SMALL));
	OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 1; i <= 3; i++) {
		memset(source, i, BYTES);
		OK(cudaMemcpyAsync(small, source, SMALL, cudaMemcpyHostToDevice, held));
		OK(cudaStreamSynchronize(held));
		gate_close(&gate, held);
		alarm(3);
		OK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, held));
		memset(source, 0x55, BYTES);
		memset(source, i + 10, SMALL);
		OK(cudaMemcpyAsync(small, source, SMALL, cudaMemcpyHostToDevice, other));
		memset(source, 0x55, SMALL);
		OK(cudaStreamSynchronize(other));
		TEST_TRUE(!atomic_load(&gate.passed));
		gate_open(&gate);
		OK(cudaMemcpyAsync(back, device, BYTES, cudaMemcpyDeviceToHost, held));
		OK(cudaStreamSynchronize(held));
		TEST_EQ(wrong_bytes(back, i, BYTES), 0);
		OK(cudaMemcpyAsync(back, small, SMALL, cudaMemcpyDeviceToHost, other));
		OK(cudaStreamSynchronize(other));
		TEST_EQ(wrong_bytes(back, i + 10, SMALL), 0);
	}
	return test_result();
}
