/* SPDX-License-Identifier: MIT */
/*
 * Something like training in which several rewrites find something to do, that is killed in the
 * middle: rewrite_killed STEPS; without a number it ends by itself
 */
#include <cublas_v2.h>
#include <signal.h>
#include <unistd.h>

#include "tests/promises/sim_gate.h"

#define BYTES ((size_t)1 << 20)

int main(int count, char **words)
{
	const int steps = count == 2 ? atoi(words[1]) : 900;
	static char source[BYTES];
	struct cudaDeviceProp first, properties;
	const float one = 1;
	cublasHandle_t handle;
	float *device, *weights;
	void *scratch;

	alarm(300);
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMalloc((void **)&weights, BYTES));
	OK(cudaMemset(weights, 0, BYTES));
	OK(cudaGetDeviceProperties(&first, 0));
	TEST_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < steps; i++) {
		/* Whoever looks at what the steps do, beside them, has its turn on a busy machine
		 * too. */
		usleep(2000);
		memset(source, i, BYTES);
		OK(cudaGetDeviceProperties(&properties, 0));
		TEST_EQ(memcmp(&properties, &first, sizeof(first)), 0);
		OK(cudaMalloc(&scratch, BYTES));
		OK(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
		OK(cudaMemcpyAsync(scratch, weights, 4096, cudaMemcpyDeviceToDevice, NULL));
		TEST_EQ(cublasSaxpy(handle, 1024, &one, device, 1, weights, 1),
			CUBLAS_STATUS_SUCCESS);
		OK(cudaFree(scratch));
		OK(cudaDeviceSynchronize());
	}
	if (test_result() == 0 && count == 2)
		kill(getpid(), SIGKILL);
	return count == 2 ? 1 : test_result();
}
