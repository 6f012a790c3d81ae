/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's own static runtime on the simulated driver. It looks up all that it may call, which
 * driver_asked.sh compares with the hooks, and gets as far as cuGetExportTable:
 * cudaDriverGetVersion works, all else answers what that call answered. There is nothing to be
 * mended there: the last of those tables is how the runtime makes sure that the driver is NVIDIA's,
 * and without that every call answers cudaErrorSoftwareValidityNotEstablished. Prints the answers,
 * which must be the same whoever watches.
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
