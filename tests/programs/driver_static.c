/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's own static runtime on the simulated driver. It gets as far as cuGetExportTable, whose
 * tables are NVIDIA's alone: cudaDriverGetVersion works, all else answers what that call answered.
 * Prints the answers, which must be the same whoever watches.
 */
#include <cuda_runtime_api.h>

#include "tests/test.h"

int main(void)
{
	int version = -1, count = -1;
	void *memory = NULL;
	cudaError_t status;

	TEST_EQ(cudaDriverGetVersion(&version), cudaSuccess);
	printf("driver %d\n", version);
	status = cudaGetDeviceCount(&count);
	printf("devices %d: %s\n", count, cudaGetErrorName(status));
	status = cudaMalloc(&memory, 4096);
	printf("memory: %s, then %s\n", cudaGetErrorName(status),
		cudaGetErrorName(cudaGetLastError()));
	return test_result();
}
