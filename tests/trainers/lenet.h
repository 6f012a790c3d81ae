/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_LENET_H
#define TFS_TESTS_TRAINERS_LENET_H

/*
 * What the three LeNet trainers share: shapes, library handles, descriptors, weights and the
 * buffers that live as long as the program. 28x28 image; convolution 5x5 to 8 maps, ReLU, pool;
 * convolution 5x5 to 8 maps, ReLU, pool; dense 64, ReLU; dense 10; log softmax. How a step is
 * computed is each trainer's own business. Every failure ends the program with a message.
 */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include "mnist.h"
#include "options.h"

enum {
	CONV1_MAPS = 8,
	CONV1_SIDE = 24,
	POOL1_SIDE = 12,
	CONV2_MAPS = 8,
	CONV2_SIDE = 8,
	POOL2_SIDE = 4,
	KERNEL_SIDE = 5,
	FLAT = CONV2_MAPS * POOL2_SIDE * POOL2_SIDE,
	HIDDEN = 64,
};

enum parameter {
	CONV1_W,
	CONV1_B,
	CONV2_W,
	CONV2_B,
	DENSE1_W,
	DENSE1_B,
	DENSE2_W,
	DENSE2_B,
	PARAMETERS
};

/* The algorithm of each convolution, and the bytes that the hungriest of them works in. */
struct lenet_algos {
	cudnnConvolutionFwdAlgo_t forward1, forward2, forward_dense;
	cudnnConvolutionBwdFilterAlgo_t filter1, filter2;
	cudnnConvolutionBwdDataAlgo_t data2;
	size_t workspace_bytes;
};

struct lenet {
	unsigned batch;
	cudaStream_t stream;
	cudnnHandle_t dnn;
	cublasHandle_t blas;
	cudnnTensorDescriptor_t image_t, conv1_t, pool1_t, conv2_t, pool2_t, flat_t, hidden_t;
	cudnnTensorDescriptor_t class_t, bias1_t, bias2_t, hidden_bias_t, class_bias_t;
	cudnnFilterDescriptor_t filter1_t, filter2_t, dense1_t;
	cudnnConvolutionDescriptor_t conv;
	cudnnPoolingDescriptor_t pool;
	cudnnActivationDescriptor_t relu;
	float *weight[PARAMETERS], *grad[PARAMETERS];
	float *all_weights, *all_grads; /* the same as one block each, or NULL */
	size_t block_floats;
	float *images, *onehot; /* one batch of input */
	float *conv1, *pool1, *conv2, *pool2, *hidden, *logits, *log_prob;
	float *d_conv1, *d_conv2, *d_pool2, *d_hidden, *d_logits;
	float *ones; /* one per image: a dense bias gradient is a product */
};

/*
 * Sets everything up for one batch size on one stream (0: the default one). With flat, all
 * weights lie in one block and all gradients in another, else each tensor is by itself.
 */
void lenet_init(struct lenet *net, const struct options *options, cudaStream_t stream, bool flat);

/* Gives everything back; the work on the stream must be over. */
void lenet_finish(struct lenet *net);

/* Device memory for count floats, for the life of the program; exits when there is none. */
float *lenet_alloc(size_t count);

/* How many floats a tensor of weights has. */
size_t lenet_count(enum parameter parameter);

/* The workspace that the algorithms named in algos need on these shapes. */
size_t lenet_workspace_bytes(const struct lenet *net, const struct lenet_algos *algos);

/*
 * Measures the algorithms for these shapes and names the fastest ones, with their workspace; with
 * plain, the fastest that round as products do: no Fourier or Winograd transform.
 */
void lenet_search(
	const struct lenet *net, bool deterministic, bool plain, struct lenet_algos *out_algos);

/* The share of a set that the net gets right. Uses the net's buffers; waits for the device. */
float lenet_evaluate(struct lenet *net, const struct mnist *set);

/* Writes the weights to a file, bit by bit. Waits for the device. */
void lenet_dump(const struct lenet *net, const char *path);

/* Both parts of the set that the options name, or exits with what is wrong. */
void lenet_load(const struct options *options, struct mnist *out_train, struct mnist *out_test);

#endif
