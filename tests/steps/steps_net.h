/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_STEPS_STEPS_NET_H
#define TFS_TESTS_STEPS_STEPS_NET_H

/* One small network, and what its training consists of. */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "tests/test.h"

#define SIDE 64
#define COUNT (SIDE * SIDE)
#define BYTES (COUNT * sizeof(float))
#define LAYERS 3
#define STEPS 160
#define ROWS 128

struct net {
	float *weights[2][LAYERS]; /* the other half only out of place */
	float *gradients[LAYERS];
	float *values[LAYERS + 1];
	int turn, device, batch;
};

static cublasHandle_t blas;
static cudaStream_t stream;
static float host[ROWS * 4][SIDE];
static float loss[SIDE];

static inline void make(struct net *net, int device)
{
	*net = (struct net){.device = device, .batch = SIDE};
	TEST_NEED(cudaSetDevice(device) == cudaSuccess);
	for (int i = 0; i < LAYERS; i++) {
		for (int half = 0; half < 2; half++) {
			TEST_NEED(!cudaMalloc((void **)&net->weights[half][i], BYTES));
			TEST_NEED(!cudaMemset(net->weights[half][i], 0, BYTES));
		}
		TEST_NEED(!cudaMalloc((void **)&net->gradients[i], BYTES));
	}
	for (int i = 0; i <= LAYERS; i++)
		TEST_NEED(!cudaMalloc((void **)&net->values[i], BYTES));
}

static inline void multiply(const float *a, const float *b, float *out, int batch, float beta)
{
	const float one = 1;

	TEST_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, batch, SIDE, &one, a, SIDE, b,
			SIDE, &beta, out, SIDE),
		CUBLAS_STATUS_SUCCESS);
}

static __attribute__((noinline, unused)) void upload(struct net *net)
{
	TEST_EQ(cudaMemcpyAsync(net->values[0], host, (size_t)net->batch * SIDE * sizeof(float),
			cudaMemcpyHostToDevice, stream),
		cudaSuccess);
}

static __attribute__((noinline, unused)) void forward(struct net *net)
{
	for (int i = 0; i < LAYERS; i++)
		multiply(net->weights[net->turn][i], net->values[i], net->values[i + 1], net->batch,
			0);
}

static __attribute__((noinline, unused)) void backward(struct net *net, float beta)
{
	for (int i = LAYERS - 1; i >= 0; i--)
		multiply(net->values[i + 1], net->values[i], net->gradients[i], SIDE, beta);
}

static __attribute__((noinline, unused)) void update(struct net *net)
{
	const float rate = -0.01f;

	for (int i = 0; i < LAYERS; i++)
		TEST_EQ(cublasSaxpy(blas, COUNT, &rate, net->gradients[i], 1,
				net->weights[net->turn][i], 1),
			CUBLAS_STATUS_SUCCESS);
}

static __attribute__((noinline, unused)) void read_loss(struct net *net)
{
	TEST_EQ(cudaMemcpyAsync(
			loss, net->values[LAYERS], sizeof(loss), cudaMemcpyDeviceToHost, stream),
		cudaSuccess);
	TEST_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

static __attribute__((noinline, unused)) void train(struct net *net)
{
	upload(net);
	forward(net);
	backward(net, 0);
	update(net);
	read_loss(net);
}

static inline void net_start(struct net *net)
{
	make(net, 0);
	TEST_NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
	TEST_NEED(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
	TEST_NEED(cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS);
}

#endif
