/* SPDX-License-Identifier: MIT */
/*
 * A training loop in a thread of its own, after the first thread has prepared everything:
 * steps_worker [THREADS]. With two, both train, each its own weights.
 */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <pthread.h>

#include "tests/test.h"

#define SIDE 32
#define COUNT (SIDE * SIDE)
#define STEPS 150

struct net {
	float *weights;
	float *gradients;
	float *images;
};

static void step(cublasHandle_t blas, const struct net *net)
{
	const float one = 1;
	const float zero = 0;
	const float rate = -0.01f;

	TEST_EQ(cudaMemset(net->images, 1, COUNT * sizeof(float)), cudaSuccess);
	TEST_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, net->images,
			SIDE, net->weights, SIDE, &zero, net->gradients, SIDE),
		CUBLAS_STATUS_SUCCESS);
	TEST_EQ(cublasSaxpy(blas, COUNT, &rate, net->gradients, 1, net->weights, 1),
		CUBLAS_STATUS_SUCCESS);
	TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

static void *train(void *argument)
{
	cublasHandle_t blas;

	TEST_NEED(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < STEPS; i++)
		step(blas, argument);
	TEST_EQ(cublasDestroy(blas), CUBLAS_STATUS_SUCCESS);
	return NULL;
}

static void prepare(struct net *net)
{
	float **const parts[] = {&net->weights, &net->gradients, &net->images};

	for (int i = 0; i < 3; i++) {
		TEST_NEED(cudaMalloc((void **)parts[i], COUNT * sizeof(float)) == cudaSuccess);
		TEST_EQ(cudaMemset(*parts[i], 0, COUNT * sizeof(float)), cudaSuccess);
	}
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	struct net nets[2];
	pthread_t threads[2];

	TEST_NEED(count == 1 || count == 2);
	for (int i = 0; i < count; i++)
		prepare(&nets[i]);
	for (int i = 0; i < count; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, train, &nets[i]) == 0);
	for (int i = 0; i < count; i++)
		TEST_EQ(pthread_join(threads[i], NULL), 0);
	return test_result();
}
