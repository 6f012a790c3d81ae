/* SPDX-License-Identifier: MIT */
/*
 * A search of cuDNN's allocates for itself what it finds, and nobody is asked when that is too
 * little: the list only gets shorter. What a rewrite holds must not be missing there. The device's
 * memory must be 96 MiB.
 */
#include <cudnn.h>

#include "tests/rewrites/memory/rewrite_pool.h"

enum { MOST = 20 };

static cudnnHandle_t dnn;
static cudnnTensorDescriptor_t x, y;
static cudnnFilterDescriptor_t w;
static cudnnConvolutionDescriptor_t convolution;

static void describe(void)
{
	OK(cudnnCreate(&dnn));
	OK(cudnnCreateTensorDescriptor(&x));
	OK(cudnnCreateTensorDescriptor(&y));
	OK(cudnnCreateFilterDescriptor(&w));
	OK(cudnnCreateConvolutionDescriptor(&convolution));
	OK(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 64, 16, 28, 28));
	OK(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 64, 32, 24, 24));
	OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 32, 16, 5, 5));
	OK(cudnnSetConvolution2dDescriptor(
		convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
}

/* How many algorithms work. */
static int find(void)
{
	cudnnConvolutionFwdAlgoPerf_t list[MOST];
	int count = 0, work = 0;

	OK(cudnnFindConvolutionForwardAlgorithm(dnn, x, w, convolution, y, MOST, &count, list));
	for (int i = 0; i < count; i++)
		work += list[i].status == CUDNN_STATUS_SUCCESS;
	return work;
}

/* The largest block that there is, but for what a pool must leave free. */
static size_t largest(void)
{
	size_t bytes = 0, all;
	char *memory = NULL;

	OK(cudaMemGetInfo(&bytes, &all));
	bytes = (bytes - 12 * MIB) / (2 * MIB) * (2 * MIB);
	while (bytes > 0 && cudaMalloc((void **)&memory, bytes) != cudaSuccess) {
		TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
		bytes -= 2 * MIB;
	}
	OK(cudaFree(memory));
	return bytes;
}

static void found(void)
{
	const int all = find();
	const size_t bytes = largest();

	TEST_TRUE(all > 4);
	for (int i = 0; i < 4; i++) {
		churn(bytes, 6);
		TEST_EQ(find(), all);
		TEST_EQ(cudaGetLastError(), cudaSuccess);
	}
}

static const struct rewrite_case cases[] = {{"found", found}};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	describe();
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
