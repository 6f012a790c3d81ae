/* SPDX-License-Identifier: MIT */
/* Which calls wait without saying so, and which do not. */
#include "sim_gate.h"

#define SIZE (1 << 20)

int main(void)
{
	void *used, *unused, *later, *pinned, *pooled = NULL;
	cudaStream_t stream, doomed;
	atomic_bool mark;
	struct gate gate;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc(&used, SIZE));
	OK(cudaMalloc(&unused, SIZE));
	OK(cudaMallocHost(&pinned, SIZE));
	OK(cudaMemsetAsync(used, 0, SIZE, stream));
	OK(cudaStreamSynchronize(stream));

	mark_put(&mark, stream);
	OK(cudaFree(unused));
	TEST_TRUE(mark);

	mark_put(&mark, stream);
	OK(cudaFreeHost(pinned));
	TEST_TRUE(mark);

	/* Nothing is freed by freeing nothing, and nobody waits. */
	gate_close(&gate, stream);
	OK(cudaFree(NULL));
	OK(cudaFreeHost(NULL));
	OK(cudaMallocAsync(&pooled, SIZE, stream));
	OK(cudaMemsetAsync(pooled, 1, SIZE, stream));
	OK(cudaFreeAsync(pooled, stream));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));

	/* A stream may go while it has work; the work is done all the same. */
	OK(cudaStreamCreate(&doomed));
	gate_close(&gate, doomed);
	OK(cudaMemsetAsync(used, 4, SIZE, doomed));
	OK(cudaStreamDestroy(doomed));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
	TEST_TRUE(gate.passed);
	OK(cudaMallocHost(&later, SIZE));
	OK(cudaMemcpy(later, used, SIZE, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(later, 4, SIZE), 0);
	return test_result();
}
