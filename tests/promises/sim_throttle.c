/* SPDX-License-Identifier: MIT */
/* A host that never waits cannot run ahead for ever: a stream holds so much work and no more. */
#include "sim_gate.h"

#define FEW 256
#define MANY 20000

int main(void)
{
	struct gate gate;
	cudaStream_t stream;
	void *memory;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc(&memory, 64));
	/* This much must go into the queue of a stream that stands still. */
	gate_close(&gate, stream);
	for (int i = 0; i < FEW; i++)
		OK(cudaMemsetAsync(memory, i, 64, stream));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	for (int i = 0; i < MANY; i++)
		OK(cudaMemsetAsync(memory, i, 64, stream));
	OK(cudaStreamSynchronize(stream));
	return test_result();
}
