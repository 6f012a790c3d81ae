/* SPDX-License-Identifier: MIT */
#include "wide_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rng.h"

static const struct wide_size sizes[] = {
	{"large", 64, 224, 7, 4, 3},
	{"medium", 128, 32, 3, 1, 1},
	{"tiny", 4, 32, 3, 1, 1},
};
static const int maps[WIDE_LAYERS] = {32, 64, 64};

const struct wide_size *wide_size_find(const char *name)
{
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (!strcmp(sizes[i].name, name))
			return &sizes[i];
	}
	return NULL;
}

size_t wide_image_floats(const struct wide_size *size)
{
	return (size_t)WIDE_COLOURS * (size_t)size->side * (size_t)size->side;
}

float *wide_alloc(size_t count)
{
	void *memory = NULL;

	CUDA(cudaMalloc(&memory, count * sizeof(float)));
	return memory;
}

static size_t tensor(cudnnTensorDescriptor_t *out, int n, int c, int side)
{
	CUDNN(cudnnCreateTensorDescriptor(out));
	CUDNN(cudnnSetTensor4dDescriptor(
		*out, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, side, side));
	return (size_t)n * (size_t)c * (size_t)side * (size_t)side;
}

static void init_layers(struct wide_net *net)
{
	const struct wide_size *size = &net->size;
	int inputs = WIDE_COLOURS, side = size->side;

	for (unsigned i = 0; i < WIDE_LAYERS; i++) {
		struct wide_layer *l = &net->layers[i];
		int kernel = i ? 3 : size->kernel, stride = i ? 1 : size->stride;
		int pad = i ? 1 : size->pad;

		l->maps = maps[i];
		l->side = (side + 2 * pad - kernel) / stride + 1;
		l->x_floats = tensor(&l->x_t, size->batch, inputs, side);
		l->y_floats = tensor(&l->y_t, size->batch, l->maps, l->side);
		tensor(&l->pool_t, size->batch, l->maps, l->side / 2);
		net->count[2 * i + 1] = tensor(&l->bias_t, 1, l->maps, 1);
		net->count[2 * i] = (size_t)(l->maps * inputs * kernel * kernel);
		CUDNN(cudnnCreateFilterDescriptor(&l->filter_t));
		CUDNN(cudnnSetFilter4dDescriptor(l->filter_t, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
			l->maps, inputs, kernel, kernel));
		CUDNN(cudnnCreateConvolutionDescriptor(&l->conv));
		CUDNN(cudnnSetConvolution2dDescriptor(l->conv, pad, pad, stride, stride, 1, 1,
			CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
		l->y = wide_alloc(l->y_floats);
		l->dy = wide_alloc(l->y_floats);
		if (i > 0) {
			l->x = wide_alloc(l->x_floats);
			l->dx = wide_alloc(l->x_floats);
		}
		inputs = l->maps;
		side = l->side / 2;
	}
	net->flat = inputs * side * side;
	net->count[2 * WIDE_LAYERS] = (size_t)net->flat * WIDE_CLASSES;
	net->count[2 * WIDE_LAYERS + 1] = WIDE_CLASSES;
}

static void fill_weights(struct wide_net *net, uint64_t seed)
{
	size_t at = 0;
	float *host;

	for (unsigned i = 0; i < WIDE_WEIGHTS; i++)
		net->block_floats += (net->count[i] + 63) / 64 * 64;
	net->all_weights = wide_alloc(net->block_floats);
	net->all_grads = wide_alloc(net->block_floats);
	host = calloc(net->block_floats, sizeof(*host));
	if (!host)
		fail("no memory for the weights");
	for (unsigned i = 0; i < WIDE_WEIGHTS; i++) {
		size_t outputs = net->count[i | 1];
		float limit = i % 2 ? 0 : sqrtf(6.0f * (float)outputs / (float)net->count[i]);

		net->weight[i] = net->all_weights + at;
		net->grad[i] = net->all_grads + at;
		for (size_t j = 0; j < net->count[i] && limit > 0; j++)
			host[at + j] = rng_uniform(&seed, -limit, limit);
		at += (net->count[i] + 63) / 64 * 64;
	}
	CUDA(cudaMemcpy(
		net->all_weights, host, net->block_floats * sizeof(float), cudaMemcpyHostToDevice));
	CUDA(cudaMemset(net->all_grads, 0, net->block_floats * sizeof(float)));
	free(host);
}

void wide_init(struct wide_net *net, const struct wide_size *size, cudaStream_t stream,
	uint64_t seed, bool average)
{
	float ones[256];
	size_t batch = (size_t)size->batch;

	net->size = *size;
	net->stream = stream;
	CUDNN(cudnnCreate(&net->dnn));
	CUBLAS(cublasCreate(&net->blas));
	CUDNN(cudnnSetStream(net->dnn, stream));
	CUBLAS(cublasSetStream(net->blas, stream));
	CUDNN(cudnnCreatePoolingDescriptor(&net->pool));
	CUDNN(cudnnSetPooling2dDescriptor(net->pool,
		average ? CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING : CUDNN_POOLING_MAX,
		CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
	CUDNN(cudnnCreateActivationDescriptor(&net->relu));
	CUDNN(cudnnSetActivationDescriptor(
		net->relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0));
	init_layers(net);
	tensor(&net->class_t, size->batch, WIDE_CLASSES, 1);
	tensor(&net->class_bias_t, 1, WIDE_CLASSES, 1);
	net->pooled = wide_alloc(batch * (size_t)net->flat);
	net->d_pooled = wide_alloc(batch * (size_t)net->flat);
	net->logits = wide_alloc(batch * WIDE_CLASSES);
	net->log_prob = wide_alloc(batch * WIDE_CLASSES);
	net->d_logits = wide_alloc(batch * WIDE_CLASSES);
	net->loss = wide_alloc(1);
	net->ones = wide_alloc(batch);
	for (size_t i = 0; i < batch; i++)
		ones[i] = 1;
	CUDA(cudaMemcpy(net->ones, ones, batch * sizeof(float), cudaMemcpyHostToDevice));
	fill_weights(net, seed);
}

void wide_finish(struct wide_net *net)
{
	float *buffers[] = {net->pooled, net->d_pooled, net->logits, net->log_prob, net->d_logits,
		net->loss, net->ones, net->all_weights, net->all_grads, net->workspace};

	for (unsigned i = 0; i < WIDE_LAYERS; i++) {
		struct wide_layer *l = &net->layers[i];

		CUDA(cudaFree(l->y));
		CUDA(cudaFree(l->dy));
		if (i > 0) {
			CUDA(cudaFree(l->x));
			CUDA(cudaFree(l->dx));
		}
		CUDNN(cudnnDestroyTensorDescriptor(l->x_t));
		CUDNN(cudnnDestroyTensorDescriptor(l->y_t));
		CUDNN(cudnnDestroyTensorDescriptor(l->pool_t));
		CUDNN(cudnnDestroyTensorDescriptor(l->bias_t));
		CUDNN(cudnnDestroyFilterDescriptor(l->filter_t));
		CUDNN(cudnnDestroyConvolutionDescriptor(l->conv));
	}
	for (unsigned i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		CUDA(cudaFree(buffers[i]));
	CUDNN(cudnnDestroyTensorDescriptor(net->class_t));
	CUDNN(cudnnDestroyTensorDescriptor(net->class_bias_t));
	CUDNN(cudnnDestroyPoolingDescriptor(net->pool));
	CUDNN(cudnnDestroyActivationDescriptor(net->relu));
	CUBLAS(cublasDestroy(net->blas));
	CUDNN(cudnnDestroy(net->dnn));
}
