/* SPDX-License-Identifier: MIT */
/*
 * A dozen products of fresh images and the same weights, which nothing updates: no training step is
 * in it. steps_none [pinned | once]: the images are in pinned memory; they are copied once only.
 */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <string.h>

#include "tests/test.h"

#define SIDE 64
#define BYTES (1u << 20) /* of which a product takes a part: copies dominate the run */
#define ROUNDS 12        /* fewer than make a loop the one that is looked at instead */

int main(int argc, char **argv)
{
	const bool pinned = argc > 1 && !strcmp(argv[1], "pinned");
	const bool once = argc > 1 && !strcmp(argv[1], "once");
	const float one = 1, zero = 0;
	float *host = NULL, *images, *weights, *out;
	cublasHandle_t blas;

	if (pinned)
		TEST_EQ(cudaMallocHost((void **)&host, BYTES), cudaSuccess);
	else
		host = malloc(BYTES);
	TEST_NEED(host);
	memset(host, 0, BYTES);
	TEST_EQ(cudaMalloc((void **)&images, BYTES), cudaSuccess);
	TEST_EQ(cudaMalloc((void **)&weights, BYTES), cudaSuccess);
	TEST_EQ(cudaMalloc((void **)&out, BYTES), cudaSuccess);
	TEST_EQ(cublasCreate(&blas), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < ROUNDS; i++) {
		if (!once || !i)
			TEST_EQ(cudaMemcpyAsync(images, host, BYTES, cudaMemcpyHostToDevice, 0),
				cudaSuccess);
		TEST_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, images,
				SIDE, weights, SIDE, &zero, out, SIDE),
			CUBLAS_STATUS_SUCCESS);
		TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
	}
	return test_result();
}
