/* SPDX-License-Identifier: MIT */
/* The driver through the runtime: entry points, and objects that are the same in both. */
#include <cuda.h>

#include "sim_gate.h"

typedef CUresult (*stream_query)(CUstream stream);
typedef CUresult (*memset_async)(CUdeviceptr ptr, unsigned char value, size_t n, CUstream stream);

static void *entry(const char *name)
{
	enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
	void *address = NULL;

	OK(cudaGetDriverEntryPointByVersion(name, &address, 13000, cudaEnableDefault, &status));
	TEST_EQ(status, cudaDriverEntryPointSuccess);
	TEST_TRUE(address);
	return address;
}

int main(void)
{
	enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
	stream_query query;
	memset_async set;
	cudaStream_t stream;
	struct gate gate;
	char back[64];
	void *memory;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc(&memory, 64));
	query = (stream_query)entry("cuStreamQuery");
	set = (memset_async)entry("cuMemsetD8Async");
	if (!query || !set)
		return test_result();
	gate_close(&gate, stream);
	TEST_EQ(set((CUdeviceptr)memory, 7, 64, stream), CUDA_SUCCESS);
	TEST_EQ(query(stream), CUDA_ERROR_NOT_READY);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(query(stream), CUDA_SUCCESS);
	OK(cudaMemcpy(back, memory, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 7, 64), 0);
	/* A driver call's failure is not the runtime's last error. */
	TEST_TRUE(set((CUdeviceptr)back, 7, 64, stream) != CUDA_SUCCESS);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	OK(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &memory, 13000, 0, &status));
	TEST_EQ(status, cudaDriverEntryPointSymbolNotFound);
	return test_result();
}
