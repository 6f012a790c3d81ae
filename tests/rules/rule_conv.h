/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_CONV_H
#define TFS_TESTS_PROGRAMS_RULE_CONV_H

/* The trainer of rule_step.h with a convolution, bias and ReLU for its layer. */

#include <cudnn.h>

#include "tests/rules/rule_step.h"

enum { IMAGES = 16, MAPS_IN = 8, MAPS_OUT = 32, SIDE = 16, KERNEL = 3 };
enum { IN_FLOATS = IMAGES * MAPS_IN * SIDE * SIDE, OUT_FLOATS = IMAGES * MAPS_OUT * SIDE * SIDE };
enum { FILTER_FLOATS = MAPS_OUT * MAPS_IN * KERNEL * KERNEL, WORKSPACE = 32 << 20 };

struct rule_conv {
	cudnnHandle_t dnn;
	cublasHandle_t blas;
	cudaStream_t stream;
	cudnnTensorDescriptor_t in_t, out_t, bias_t;
	cudnnFilterDescriptor_t filter_t;
	cudnnConvolutionDescriptor_t conv;
	cudnnActivationDescriptor_t relu;
	float *in, *out, *d_out, *filter, *d_filter, *bias, *d_bias, *workspace;
};

static inline void rule_tensor(cudnnTensorDescriptor_t *out, int n, int c, int side)
{
	NEED(cudnnCreateTensorDescriptor(out));
	NEED(cudnnSetTensor4dDescriptor(
		*out, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, side, side));
}

static inline void rule_conv_describe(struct rule_conv *r)
{
	rule_tensor(&r->in_t, IMAGES, MAPS_IN, SIDE);
	rule_tensor(&r->out_t, IMAGES, MAPS_OUT, SIDE);
	rule_tensor(&r->bias_t, 1, MAPS_OUT, 1);
	NEED(cudnnCreateFilterDescriptor(&r->filter_t));
	NEED(cudnnSetFilter4dDescriptor(r->filter_t, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, MAPS_OUT,
		MAPS_IN, KERNEL, KERNEL));
	NEED(cudnnCreateConvolutionDescriptor(&r->conv));
	NEED(cudnnSetConvolution2dDescriptor(
		r->conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	NEED(cudnnCreateActivationDescriptor(&r->relu));
	NEED(cudnnSetActivationDescriptor(
		r->relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
}

static inline void rule_conv_init(struct rule_conv *r)
{
	float *start = malloc(IN_FLOATS * sizeof(*start));

	if (!start)
		exit(1);
	NEED(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	NEED(cudnnCreate(&r->dnn));
	NEED(cudnnSetStream(r->dnn, r->stream));
	NEED(cublasCreate(&r->blas));
	NEED(cublasSetStream(r->blas, r->stream));
	rule_conv_describe(r);
	r->in = rule_alloc(IN_FLOATS);
	r->out = rule_alloc(OUT_FLOATS);
	r->d_out = rule_alloc(OUT_FLOATS);
	r->filter = rule_alloc(FILTER_FLOATS);
	r->d_filter = rule_alloc(FILTER_FLOATS);
	r->bias = rule_alloc(MAPS_OUT);
	r->d_bias = rule_alloc(MAPS_OUT);
	r->workspace = rule_alloc(WORKSPACE / sizeof(float));
	rule_fill(start, IN_FLOATS, 1e-3f);
	NEED(cudaMemcpy(r->in, start, IN_FLOATS * sizeof(float), cudaMemcpyHostToDevice));
	NEED(cudaMemcpy(r->filter, start, FILTER_FLOATS * sizeof(float), cudaMemcpyHostToDevice));
	free(start);
	NEED(cudaDeviceSynchronize());
}

/* Outputs are to become 0, so that they are their own gradients. `before` has what the activation
 * was given. */
static inline void rule_conv_learn_from(struct rule_conv *r, const float *before)
{
	const float one = 1, zero = 0, rate = -1e-5f;

	NEED(cudnnActivationBackward(r->dnn, r->relu, &one, r->out_t, r->out, r->out_t, r->out,
		r->out_t, before, &zero, r->out_t, r->d_out));
	NEED(cudnnConvolutionBackwardBias(
		r->dnn, &one, r->out_t, r->d_out, &zero, r->bias_t, r->d_bias));
	NEED(cudnnConvolutionBackwardFilter(r->dnn, &one, r->in_t, r->in, r->out_t, r->d_out,
		r->conv, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, r->workspace, WORKSPACE, &zero,
		r->filter_t, r->d_filter));
	NEED(cublasSaxpy(r->blas, MAPS_OUT, &rate, r->d_bias, 1, r->bias, 1));
	NEED(cublasSaxpy(r->blas, FILTER_FLOATS, &rate, r->d_filter, 1, r->filter, 1));
}

static inline void rule_conv_learn(struct rule_conv *r)
{
	rule_conv_learn_from(r, r->out);
}

static inline void rule_conv_finish(struct rule_conv *r)
{
	rule_tell(r->filter, FILTER_FLOATS);
	rule_tell(r->bias, MAPS_OUT);
	printf("all %016llx\n", (unsigned long long)rule_see(NULL, 0));
	NEED(cublasDestroy(r->blas));
	NEED(cudnnDestroy(r->dnn));
}

#endif
