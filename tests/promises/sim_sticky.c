/* SPDX-License-Identifier: MIT */
/* A kernel that fails spoils everything from then on; nothing clears it. */
#include "sim_ptx.h"

int main(void)
{
	cudaLibrary_t library;
	cudaKernel_t kernel;
	cudaStream_t stream;
	cudaError_t error;
	struct gate gate;
	void *device;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc(&device, 64));
	library = sim_ptx_load();
	OK(cudaLibraryGetKernel(&kernel, library, "fail"));
	gate_close(&gate, stream);
	/* The launch itself is fine: the failure comes with the work. */
	OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, stream));
	OK(cudaMemsetAsync(device, 0, 64, stream));
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	gate_open(&gate);
	error = cudaStreamSynchronize(stream);
	TEST_TRUE(error == cudaErrorLaunchFailure || error == cudaErrorIllegalInstruction);
	TEST_EQ(cudaGetLastError(), error);
	/* Unlike an ordinary error it is there again. */
	TEST_EQ(cudaMemsetAsync(device, 0, 64, stream), error);
	TEST_EQ(cudaMalloc(&device, 64), error);
	TEST_EQ(cudaDeviceSynchronize(), error);
	TEST_EQ(cudaGetLastError(), error);
	return test_result();
}
