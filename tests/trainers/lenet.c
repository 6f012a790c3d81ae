/* SPDX-License-Identifier: MIT */
#include "lenet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "rng.h"

static const struct {
	size_t count;
	unsigned inputs; /* that one output sums up; 0: a bias, which starts at 0 */
} shapes[PARAMETERS] = {
	[CONV1_W] = {CONV1_MAPS * 25, 25},
	[CONV1_B] = {CONV1_MAPS, 0},
	[CONV2_W] = {CONV2_MAPS * CONV1_MAPS * 25, CONV1_MAPS * 25},
	[CONV2_B] = {CONV2_MAPS, 0},
	[DENSE1_W] = {HIDDEN * FLAT, FLAT},
	[DENSE1_B] = {HIDDEN, 0},
	[DENSE2_W] = {MNIST_CLASSES * HIDDEN, HIDDEN},
	[DENSE2_B] = {MNIST_CLASSES, 0},
};

size_t lenet_count(enum parameter parameter)
{
	return shapes[parameter].count;
}

float *lenet_alloc(size_t count)
{
	void *memory = NULL;

	CUDA(cudaMalloc(&memory, count * sizeof(float))); /* trap: TFS401 */
	return memory;
}

static void tensor(cudnnTensorDescriptor_t *out, unsigned n, int c, int side)
{
	CUDNN(cudnnCreateTensorDescriptor(out));
	CUDNN(cudnnSetTensor4dDescriptor(
		*out, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, (int)n, c, side, side));
}

static void filter(cudnnFilterDescriptor_t *out, int maps, int inputs, int side)
{
	CUDNN(cudnnCreateFilterDescriptor(out));
	CUDNN(cudnnSetFilter4dDescriptor(
		*out, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, maps, inputs, side, side));
}

static void init_descriptors(struct lenet *net, bool average)
{
	tensor(&net->image_t, net->batch, 1, MNIST_SIDE);
	tensor(&net->conv1_t, net->batch, CONV1_MAPS, CONV1_SIDE);
	tensor(&net->pool1_t, net->batch, CONV1_MAPS, POOL1_SIDE);
	tensor(&net->conv2_t, net->batch, CONV2_MAPS, CONV2_SIDE);
	tensor(&net->pool2_t, net->batch, CONV2_MAPS, POOL2_SIDE);
	tensor(&net->flat_t, net->batch, FLAT, 1);
	tensor(&net->hidden_t, net->batch, HIDDEN, 1);
	tensor(&net->class_t, net->batch, MNIST_CLASSES, 1);
	tensor(&net->bias1_t, 1, CONV1_MAPS, 1);
	tensor(&net->bias2_t, 1, CONV2_MAPS, 1);
	tensor(&net->hidden_bias_t, 1, HIDDEN, 1);
	tensor(&net->class_bias_t, 1, MNIST_CLASSES, 1);
	filter(&net->filter1_t, CONV1_MAPS, 1, KERNEL_SIDE);
	filter(&net->filter2_t, CONV2_MAPS, CONV1_MAPS, KERNEL_SIDE);
	filter(&net->dense1_t, HIDDEN, FLAT, 1);
	CUDNN(cudnnCreateConvolutionDescriptor(&net->conv));
	CUDNN(cudnnSetConvolution2dDescriptor(
		net->conv, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	CUDNN(cudnnCreatePoolingDescriptor(&net->pool));
	CUDNN(cudnnSetPooling2dDescriptor(net->pool,
		average ? CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING : CUDNN_POOLING_MAX,
		CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
	CUDNN(cudnnCreateActivationDescriptor(&net->relu));
	CUDNN(cudnnSetActivationDescriptor(
		net->relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0));
}

static void init_buffers(struct lenet *net)
{
	size_t batch = net->batch;

	net->images = lenet_alloc(batch * MNIST_PIXELS);
	net->onehot = lenet_alloc(batch * MNIST_CLASSES);
	net->conv1 = lenet_alloc(batch * CONV1_MAPS * CONV1_SIDE * CONV1_SIDE);
	net->pool1 = lenet_alloc(batch * CONV1_MAPS * POOL1_SIDE * POOL1_SIDE);
	net->conv2 = lenet_alloc(batch * CONV2_MAPS * CONV2_SIDE * CONV2_SIDE);
	net->pool2 = lenet_alloc(batch * FLAT);
	net->hidden = lenet_alloc(batch * HIDDEN);
	net->logits = lenet_alloc(batch * MNIST_CLASSES);
	net->log_prob = lenet_alloc(batch * MNIST_CLASSES);
	net->d_conv1 = lenet_alloc(batch * CONV1_MAPS * CONV1_SIDE * CONV1_SIDE);
	net->d_conv2 = lenet_alloc(batch * CONV2_MAPS * CONV2_SIDE * CONV2_SIDE);
	net->d_pool2 = lenet_alloc(batch * FLAT);
	net->d_hidden = lenet_alloc(batch * HIDDEN);
	net->d_logits = lenet_alloc(batch * MNIST_CLASSES);
	net->ones = lenet_alloc(batch);
}

/* In a block each tensor starts on a multiple of 64 floats, as by itself it would. */
static size_t spaced(size_t count)
{
	return (count + 63) / 64 * 64;
}

static void init_parameters(struct lenet *net, bool flat)
{
	size_t at = 0;

	for (unsigned i = 0; i < PARAMETERS; i++)
		net->block_floats += spaced(shapes[i].count);
	if (flat) {
		net->all_weights = lenet_alloc(net->block_floats);
		net->all_grads = lenet_alloc(net->block_floats);
		/* What lies between the tensors takes part in the update. */
		CUDA(cudaMemset(net->all_weights, 0, net->block_floats * sizeof(float)));
		CUDA(cudaMemset(
			/* trap: TFS402 */ net->all_grads, 0, net->block_floats * sizeof(float)));
	}
	for (unsigned i = 0; i < PARAMETERS; i++) {
		net->weight[i] = flat ? net->all_weights + at : lenet_alloc(shapes[i].count);
		net->grad[i] = flat ? net->all_grads + at : lenet_alloc(shapes[i].count);
		at += spaced(shapes[i].count);
	}
}

static void fill_parameters(struct lenet *net, uint64_t seed)
{
	float *host = malloc((HIDDEN * FLAT + net->batch) * sizeof(*host));

	if (!host)
		fail("no memory for the weights");
	for (unsigned i = 0; i < PARAMETERS; i++) {
		unsigned inputs = shapes[i].inputs;
		float limit = inputs ? sqrtf(6.0f / (float)inputs) : 0;

		for (size_t j = 0; j < shapes[i].count; j++)
			host[j] = rng_uniform(&seed, -limit, limit);
		CUDA(cudaMemcpy(net->weight[i], host, shapes[i].count * sizeof(float),
			cudaMemcpyHostToDevice));
	}
	for (unsigned i = 0; i < net->batch; i++)
		host[i] = 1;
	CUDA(cudaMemcpy(net->ones, host, net->batch * sizeof(float), cudaMemcpyHostToDevice));
	free(host);
}

void lenet_init(struct lenet *net, const struct options *options, cudaStream_t stream, bool flat)
{
	*net = (struct lenet){.batch = options->batch, .stream = stream};
	CUDNN(cudnnCreate(&net->dnn));
	CUBLAS(cublasCreate(&net->blas));
	if (stream) {
		CUDNN(cudnnSetStream(net->dnn, stream));
		CUBLAS(cublasSetStream(net->blas, stream));
	}
	init_descriptors(net, options->deterministic);
	init_buffers(net);
	init_parameters(net, flat);
	fill_parameters(net, options->seed);
	/* A stream of one's own does not wait for the copies above. */
	CUDA(cudaDeviceSynchronize()); /* trap: TFS201 */
}

size_t lenet_workspace_bytes(const struct lenet *net, const struct lenet_algos *algos)
{
	size_t bytes[6], most = 0;

	CUDNN(cudnnGetConvolutionForwardWorkspaceSize(net->dnn, net->image_t, net->filter1_t,
		net->conv, net->conv1_t, algos->forward1, &bytes[0]));
	CUDNN(cudnnGetConvolutionForwardWorkspaceSize(net->dnn, net->pool1_t, net->filter2_t,
		net->conv, net->conv2_t, algos->forward2, &bytes[1]));
	CUDNN(cudnnGetConvolutionForwardWorkspaceSize(net->dnn, net->flat_t, net->dense1_t,
		net->conv, net->hidden_t, algos->forward_dense, &bytes[2]));
	CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(net->dnn, net->image_t, net->conv1_t,
		net->conv, net->filter1_t, algos->filter1, &bytes[3]));
	CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(net->dnn, net->pool1_t, net->conv2_t,
		net->conv, net->filter2_t, algos->filter2, &bytes[4]));
	CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize(net->dnn, net->filter2_t, net->conv2_t,
		net->conv, net->pool1_t, algos->data2, &bytes[5]));
	for (unsigned i = 0; i < 6; i++)
		most = bytes[i] > most ? bytes[i] : most;
	return most;
}

void lenet_dump(const struct lenet *net, const char *path)
{
	FILE *file = fopen(path, "wb");
	float *host = malloc(HIDDEN * FLAT * sizeof(*host));
	bool bad = !file || !host;

	for (unsigned i = 0; i < PARAMETERS && !bad; i++) {
		size_t count = shapes[i].count;

		CUDA(cudaMemcpy(host, net->weight[i], count * sizeof(float),
			cudaMemcpyDeviceToHost)); /* a checkpoint */
		bad = fwrite(host, sizeof(float), count, file) != count;
	}
	free(host);
	if ((file && fclose(file)) || bad)
		fail("could not write the weights");
}

void lenet_load(const struct options *options, struct mnist *out_train, struct mnist *out_test)
{
	char error[4400];

	if (mnist_load(options->data, "train", error, sizeof(error), out_train) ||
		mnist_load(options->data, "t10k", error, sizeof(error), out_test))
		fail(error);
	if (out_train->count < options->batch)
		fail("fewer images than one batch has");
}

void lenet_finish(struct lenet *net)
{
	cudnnTensorDescriptor_t tensors[] = {net->image_t, net->conv1_t, net->pool1_t, net->conv2_t,
		net->pool2_t, net->flat_t, net->hidden_t, net->class_t, net->bias1_t, net->bias2_t,
		net->hidden_bias_t, net->class_bias_t};
	float *buffers[] = {net->images, net->onehot, net->conv1, net->pool1, net->conv2,
		net->pool2, net->hidden, net->logits, net->log_prob, net->d_conv1, net->d_conv2,
		net->d_pool2, net->d_hidden, net->d_logits, net->ones, net->all_weights,
		net->all_grads};

	for (unsigned i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		CUDA(cudaFree(buffers[i])); /* trap: TFS202 TFS401 */
	for (unsigned i = 0; i < PARAMETERS && !net->all_weights; i++) {
		CUDA(cudaFree(net->weight[i]));
		CUDA(cudaFree(net->grad[i]));
	}
	for (unsigned i = 0; i < sizeof(tensors) / sizeof(*tensors); i++)
		CUDNN(cudnnDestroyTensorDescriptor(tensors[i]));
	CUDNN(cudnnDestroyFilterDescriptor(net->filter1_t));
	CUDNN(cudnnDestroyFilterDescriptor(net->filter2_t));
	CUDNN(cudnnDestroyFilterDescriptor(net->dense1_t));
	CUDNN(cudnnDestroyConvolutionDescriptor(net->conv));
	CUDNN(cudnnDestroyPoolingDescriptor(net->pool));
	CUDNN(cudnnDestroyActivationDescriptor(net->relu));
	CUBLAS(cublasDestroy(net->blas));
	CUDNN(cudnnDestroy(net->dnn));
}
