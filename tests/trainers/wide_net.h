/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_WIDE_NET_H
#define TFS_TESTS_TRAINERS_WIDE_NET_H

/*
 * The net of wide.c: three convolutions, each with bias, ReLU and 2x2 pooling, then one dense
 * layer and a log softmax over ten classes; input of three colours in one of three sizes. Here is
 * what does not depend on how a step is computed. Every failure ends the program with a message.
 */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

enum { WIDE_LAYERS = 3, WIDE_CLASSES = 10, WIDE_COLOURS = 3, WIDE_WEIGHTS = 2 * WIDE_LAYERS + 2 };

struct wide_size {
	const char *name;
	int batch, side, kernel, stride, pad; /* the latter three: of the first convolution */
};

struct wide_layer {
	cudnnTensorDescriptor_t x_t, y_t, pool_t, bias_t;
	cudnnFilterDescriptor_t filter_t;
	cudnnConvolutionDescriptor_t conv;
	cudnnConvolutionFwdAlgo_t forward;
	cudnnConvolutionBwdFilterAlgo_t filter;
	cudnnConvolutionBwdDataAlgo_t data;
	int maps, side; /* of what leaves the convolution */
	size_t x_floats, y_floats;
	float *x, *y, *dy, *dx; /* x and dx of the first layer are not owned, or NULL */
};

struct wide_net {
	struct wide_size size;
	cudaStream_t stream;
	cudnnHandle_t dnn;
	cublasHandle_t blas;
	cudnnPoolingDescriptor_t pool;
	cudnnActivationDescriptor_t relu;
	cudnnTensorDescriptor_t class_t, class_bias_t;
	struct wide_layer layers[WIDE_LAYERS];
	int flat; /* floats per image that enter the dense layer */
	float *pooled, *d_pooled, *logits, *log_prob, *d_logits, *ones, *loss;
	/* Filter and bias of each layer, then of the dense one; one block each. */
	float *weight[WIDE_WEIGHTS], *grad[WIDE_WEIGHTS], *all_weights, *all_grads;
	size_t count[WIDE_WEIGHTS], block_floats;
	void *workspace;
	size_t workspace_bytes;
};

/* "large", "medium" or "tiny"; NULL for any other name. */
const struct wide_size *wide_size_find(const char *name);

size_t wide_image_floats(const struct wide_size *size);

/* Device memory for count floats; exits when there is none. */
float *wide_alloc(size_t count);

/* Sets everything up but the algorithms; the same seed gives the same weights. */
void wide_init(struct wide_net *net, const struct wide_size *size, cudaStream_t stream,
	uint64_t seed, bool average);

void wide_finish(struct wide_net *net);

/*
 * Chooses algorithms and allocates their workspace. With search the fastest are measured, with
 * deterministic of those that repeat. With fused any is right, and the forward one is that which
 * a fused call takes everywhere; else they round as products do.
 */
void wide_choose(struct wide_net *net, bool search, bool fused, bool deterministic);

#endif
