/* SPDX-License-Identifier: MIT */
/*
 * A training loop in a thread of its own, after the first thread has prepared everything:
 * steps_worker [THREADS [round]]. With two, both train, each its own weights. By `round` a step
 * ends as it begins: the same helper is called last and first.
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

static bool rounds;

static void update(cublasHandle_t blas, const struct net *net)
{
	const float one = 1;
	const float zero = 0;
	const float rate = -0.01f;

	TEST_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, net->images,
			SIDE, net->weights, SIDE, &zero, net->gradients, SIDE),
		CUBLAS_STATUS_SUCCESS);
	TEST_EQ(cublasSaxpy(blas, COUNT, &rate, net->gradients, 1, net->weights, 1),
		CUBLAS_STATUS_SUCCESS);
}

static void step(cublasHandle_t blas, const struct net *net)
{
	TEST_EQ(cudaMemset(net->images, 1, COUNT * sizeof(float)), cudaSuccess);
	update(blas, net);
	TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

static __attribute__((noinline)) void fill(float *images)
{
	TEST_EQ(cudaMemset(images, 1, COUNT * sizeof(float)), cudaSuccess);
}

static void round_step(cublasHandle_t blas, const struct net *net)
{
	fill(net->images);
	update(blas, net);
	fill(net->images);
}

static void *train(void *argument)
{
	cublasHandle_t blas;

	TEST_NEED(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
	if (rounds)
		for (int i = 0; i < STEPS; i++)
			round_step(blas, argument);
	else
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

	rounds = argc > 2;
	TEST_NEED(count == 1 || count == 2);
	for (int i = 0; i < count; i++)
		prepare(&nets[i]);
	for (int i = 0; i < count; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, train, &nets[i]) == 0);
	for (int i = 0; i < count; i++)
		TEST_EQ(pthread_join(threads[i], NULL), 0);
	return test_result();
}
