/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_CONV_H
#define TFS_TESTS_PROGRAMS_REWRITE_CONV_H

/* A small convolution for the programs that try the search: descriptors, tensors, and its filter
 * gradient computed in double precision on the host. */

#include <cudnn.h>
#include <math.h>

#include "tests/promises/sim_gate.h"

#define CONV_N 4
#define CONV_C 3
#define CONV_HW 12
#define CONV_K 5
#define CONV_RS 3
#define CONV_OUT (CONV_HW - CONV_RS + 1)
#define CONV_X (CONV_N * CONV_C * CONV_HW * CONV_HW)
#define CONV_W (CONV_K * CONV_C * CONV_RS * CONV_RS)
#define CONV_Y (CONV_N * CONV_K * CONV_OUT * CONV_OUT)

#define DNN(call) TEST_EQ(call, CUDNN_STATUS_SUCCESS)

struct conv {
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t convolution;
};

static inline void conv_make(struct conv *conv)
{
	DNN(cudnnCreate(&conv->handle));
	DNN(cudnnCreateTensorDescriptor(&conv->x));
	DNN(cudnnCreateTensorDescriptor(&conv->y));
	DNN(cudnnCreateFilterDescriptor(&conv->w));
	DNN(cudnnCreateConvolutionDescriptor(&conv->convolution));
	DNN(cudnnSetTensor4dDescriptor(
		conv->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, CONV_N, CONV_C, CONV_HW, CONV_HW));
	DNN(cudnnSetTensor4dDescriptor(
		conv->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, CONV_N, CONV_K, CONV_OUT, CONV_OUT));
	DNN(cudnnSetFilter4dDescriptor(
		conv->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, CONV_K, CONV_C, CONV_RS, CONV_RS));
	DNN(cudnnSetConvolution2dDescriptor(
		conv->convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
}

/* Another problem: the same with `n` images. */
static inline void conv_resize(struct conv *conv, int n)
{
	DNN(cudnnSetTensor4dDescriptor(
		conv->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, CONV_C, CONV_HW, CONV_HW));
	DNN(cudnnSetTensor4dDescriptor(
		conv->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, CONV_K, CONV_OUT, CONV_OUT));
}

/* A device copy of `count` floats made from a seed, which also go to `host`. */
static inline float *conv_floats(float *host, int count, unsigned seed)
{
	float *device = NULL;

	for (int i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		host[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
	}
	OK(cudaMalloc((void **)&device, (size_t)count * sizeof(float)));
	OK(cudaMemcpy(device, host, (size_t)count * sizeof(float), cudaMemcpyHostToDevice));
	return device;
}

/* Adds the filter gradient of one batch to `dw`. */
static inline void conv_add_gradient(double *dw, const float *x, const float *dy)
{
	for (int k = 0; k < CONV_K; k++)
		for (int c = 0; c < CONV_C; c++)
			for (int r = 0; r < CONV_RS * CONV_RS; r++) {
				double sum = 0;

				for (int n = 0; n < CONV_N; n++)
					for (int o = 0; o < CONV_OUT * CONV_OUT; o++) {
						const int h = o / CONV_OUT + r / CONV_RS;
						const int v = o % CONV_OUT + r % CONV_RS;

						sum += (double)x[((n * CONV_C + c) * CONV_HW + h) *
									 CONV_HW +
								 v] *
						       dy[(n * CONV_K + k) * CONV_OUT * CONV_OUT +
							       o];
					}
				dw[(k * CONV_C + c) * CONV_RS * CONV_RS + r] += sum;
			}
}

#endif
