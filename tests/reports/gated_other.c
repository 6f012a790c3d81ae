/* SPDX-License-Identifier: MIT */
/* Another program than gated.c, which makes the same mistake at a place of its own. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdlib.h>

#define SIDE 512
#define N (SIDE * SIDE)

static float *host, *points, *distances, *centres;

static __attribute__((noinline)) void read_points(void)
{
	cudaMemcpy(points, host, N * 4, cudaMemcpyHostToDevice);
}

static __attribute__((noinline)) void measure(cublasHandle_t handle)
{
	const float one = 1, zero = 0;

	cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, SIDE, SIDE, SIDE, &one, points, SIDE, centres,
		SIDE, &zero, distances, SIDE);
}

static __attribute__((noinline)) void move_centres(cublasHandle_t handle)
{
	const float rate = 0.5f;

	cublasSaxpy(handle, N, &rate, distances, 1, centres, 1);
}

int main(void)
{
	cublasHandle_t handle;

	host = calloc(N, 4);
	cudaMalloc((void **)&points, N * 4);
	cudaMalloc((void **)&distances, N * 4);
	cudaMalloc((void **)&centres, N * 4);
	cublasCreate(&handle);
	cudaMemset(centres, 0, N * 4);
	for (int i = 0; i < 300; i++) {
		for (int j = 0; j < N; j += 64)
			host[j] = (float)(i * 7 + j % 5);
		read_points();
		measure(handle);
		move_centres(handle);
	}
	return cudaDeviceSynchronize() != cudaSuccess;
}
