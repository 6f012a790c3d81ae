/* SPDX-License-Identifier: MIT */
#include "resnet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "rng.h"

float *resnet_alloc(size_t count)
{
	void *memory = NULL;

	CUDA(cudaMalloc(&memory, count * sizeof(float)));   /* trap: TFS401 */
	CUDA(cudaMemset(memory, 0, count * sizeof(float))); /* trap: TFS402 */
	return memory;
}

static size_t tensor(cudnnTensorDescriptor_t *out, int n, int c, int side)
{
	CUDNN(cudnnCreateTensorDescriptor(out));
	CUDNN(cudnnSetTensor4dDescriptor(
		*out, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, side, side));
	return (size_t)n * (size_t)c * (size_t)side * (size_t)side;
}

/* A row for each image, which may be longer than what the net has of it. */
static void row_tensor(cudnnTensorDescriptor_t *out, int c, int row)
{
	CUDNN(cudnnCreateTensorDescriptor(out));
	CUDNN(cudnnSetTensor4dDescriptorEx(
		*out, CUDNN_DATA_FLOAT, RESNET_IMAGES, c, 1, 1, row, 1, 1, 1));
}

static unsigned add_parameter(struct resnet *net, size_t count, float start)
{
	unsigned n = net->parameters++;

	net->count[n] = count;
	net->start[n] = start;
	net->block_floats += (count + 63) / 64 * 64;
	return n;
}

static struct conv_layer conv_of(int inputs, int maps, int side, int kernel, int stride)
{
	return (struct conv_layer){
		.inputs = inputs, .maps = maps, .side = side, .kernel = kernel, .stride = stride};
}

static void init_conv(struct resnet *net, struct conv_layer *l, bool biased)
{
	const int pad = l->kernel / 2, side = l->side / l->stride;
	const int inputs = l->inputs * l->kernel * l->kernel;

	tensor(&l->x_t, RESNET_IMAGES, l->inputs, l->side);
	tensor(&l->y_t, RESNET_IMAGES, l->maps, side);
	tensor(&l->bias_t, 1, l->maps, 1);
	CUDNN(cudnnCreateFilterDescriptor(&l->w_t));
	CUDNN(cudnnSetFilter4dDescriptor(l->w_t, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, l->maps,
		l->inputs, l->kernel, l->kernel));
	CUDNN(cudnnCreateConvolutionDescriptor(&l->conv));
	CUDNN(cudnnSetConvolution2dDescriptor(l->conv, pad, pad, l->stride, l->stride, 1, 1,
		CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	l->weight = add_parameter(net, (size_t)(l->maps * inputs), -sqrtf(6.0f / (float)inputs));
	l->bias = biased ? add_parameter(net, (size_t)l->maps, 0) : RESNET_NONE;
}

static void init_norm(struct resnet *net, struct norm_layer *l, int maps, int side)
{
	const size_t count = (size_t)maps;

	tensor(&l->x_t, RESNET_IMAGES, maps, side);
	tensor(&l->maps_t, 1, maps, 1);
	l->scale = add_parameter(net, count, 1);
	l->shift = add_parameter(net, count, 0);
	l->mean = resnet_alloc(count);
	l->variance = resnet_alloc(count);
	l->saved_mean = resnet_alloc(count);
	l->saved_inverse = resnet_alloc(count);
}

static void init_block(struct resnet *net, unsigned i, bool biased)
{
	static const int maps[RESNET_STAGES + 1] = {8, 8, 8, RESNET_MAPS};
	const unsigned stage = i / RESNET_STAGES;
	const bool shrinks = stage && i % RESNET_STAGES == 0;
	const int in = maps[shrinks ? stage : stage + 1], out = maps[stage + 1];
	const int side = IMAGE_SIDE >> (shrinks ? stage - 1 : stage), stride = shrinks ? 2 : 1;
	struct block *b = &net->blocks[i];

	b->conv1 = conv_of(in, out, side, 3, stride);
	b->conv2 = conv_of(out, out, side / stride, 3, 1);
	b->shortcut = conv_of(in, out, side, 1, stride);
	b->shrinks = shrinks;
	b->in_floats = (size_t)RESNET_IMAGES * (size_t)(in * side * side);
	b->out_floats = (size_t)RESNET_IMAGES * (size_t)(out * side * side / stride / stride);
	init_norm(net, &b->norm1, in, side);
	if (shrinks)
		init_conv(net, &b->shortcut, biased);
	init_conv(net, &b->conv1, biased);
	init_norm(net, &b->norm2, out, side / stride);
	init_conv(net, &b->conv2, biased);
	b->x = resnet_alloc(b->in_floats);
	b->act1 = resnet_alloc(b->in_floats);
	b->mid = resnet_alloc(b->out_floats);
	b->act2 = resnet_alloc(b->out_floats);
	b->branch = biased ? resnet_alloc(b->out_floats) : NULL;
	b->d_act1 = resnet_alloc(b->in_floats);
	b->d_mid = resnet_alloc(b->out_floats);
	b->d_act2 = resnet_alloc(b->out_floats);
	b->d_x = resnet_alloc(b->in_floats);
}

static void init_head(struct resnet *net, const struct resnet_form *form)
{
	const size_t rows = (size_t)(form->columns * form->row);
	const size_t results = (size_t)(form->columns * form->classes);
	float *ones = calloc(rows, sizeof(*ones));

	if (!ones)
		fail("no memory for the ones");
	net->row = form->row;
	net->classes = form->classes;
	net->columns = form->columns;
	init_norm(net, &net->norm, RESNET_MAPS, RESNET_LAST_SIDE);
	row_tensor(&net->pooled_t, RESNET_MAPS, form->row);
	row_tensor(&net->class_t, IMAGE_CLASSES, form->classes);
	net->dense = add_parameter(net, (size_t)(form->row * form->classes), 0);
	net->last_floats = net->blocks[RESNET_BLOCKS - 1].out_floats;
	net->x = resnet_alloc(net->last_floats);
	net->act = resnet_alloc(net->last_floats);
	net->d_act = resnet_alloc(net->last_floats);
	net->d_x = resnet_alloc(net->last_floats);
	net->pooled = resnet_alloc(rows);
	net->d_pooled = resnet_alloc(rows);
	net->logits = resnet_alloc(results);
	net->log_prob = resnet_alloc(results);
	net->d_logits = resnet_alloc(results);
	for (unsigned i = 0; i < RESNET_IMAGES; i++)
		ones[i * (unsigned)form->row + RESNET_MAPS] = 1;
	CUDA(cudaMemcpy(net->pooled, ones, rows * sizeof(float), cudaMemcpyHostToDevice));
	free(ones);
}

static void fill_parameters(struct resnet *net, bool flat, uint64_t seed)
{
	float *host = malloc(net->block_floats * sizeof(*host));
	size_t at = 0;

	if (!host)
		fail("no memory for the weights");
	if (flat) {
		net->all_weights = resnet_alloc(net->block_floats);
		net->all_grads = resnet_alloc(net->block_floats);
	}
	for (unsigned i = 0; i < net->parameters; i++) {
		size_t count = net->count[i];
		float start = net->start[i];

		net->weight[i] = flat ? net->all_weights + at : resnet_alloc(count);
		net->grad[i] = flat ? net->all_grads + at : resnet_alloc(count);
		at += (count + 63) / 64 * 64;
		for (size_t j = 0; j < count; j++)
			host[j] = start < 0 ? rng_uniform(&seed, start, -start) : start;
		CUDA(cudaMemcpy(
			net->weight[i], host, count * sizeof(float), cudaMemcpyHostToDevice));
	}
	free(host);
}

void resnet_init(
	struct resnet *net, const struct resnet_form *form, uint64_t seed, cudaStream_t stream)
{
	*net = (struct resnet){.stream = stream};
	CUDNN(cudnnCreate(&net->dnn));
	CUBLAS(cublasCreate(&net->blas));
	if (stream) {
		CUDNN(cudnnSetStream(net->dnn, stream));
		CUBLAS(cublasSetStream(net->blas, stream));
	}
	CUDNN(cudnnCreateActivationDescriptor(&net->relu));
	CUDNN(cudnnSetActivationDescriptor(
		net->relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0));
	CUDNN(cudnnCreateActivationDescriptor(&net->identity));
	CUDNN(cudnnSetActivationDescriptor(
		net->identity, CUDNN_ACTIVATION_IDENTITY, CUDNN_NOT_PROPAGATE_NAN, 0.0));
	net->no_bias = form->biased ? NULL : resnet_alloc(RESNET_MAPS);
	CUDNN(cudnnCreatePoolingDescriptor(&net->mean));
	CUDNN(cudnnSetPooling2dDescriptor(net->mean, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
		CUDNN_NOT_PROPAGATE_NAN, RESNET_LAST_SIDE, RESNET_LAST_SIDE, 0, 0, 1, 1));
	net->stem = conv_of(IMAGE_COLOURS, 8, IMAGE_SIDE, 3, 1);
	init_conv(net, &net->stem, form->biased);
	for (unsigned i = 0; i < RESNET_BLOCKS; i++)
		init_block(net, i, form->biased);
	init_head(net, form);
	fill_parameters(net, form->flat, seed);
	/* A stream of one's own does not wait for the copies above. */
	CUDA(cudaDeviceSynchronize()); /* trap: TFS201 */
}

struct conv_layer *resnet_conv(struct resnet *net, unsigned n)
{
	if (!n--)
		return &net->stem;
	for (unsigned i = 0; i < RESNET_BLOCKS; i++) {
		struct block *b = &net->blocks[i];

		if (n < 2)
			return n ? &b->conv2 : &b->conv1;
		n -= 2;
		if (b->shrinks && !n--)
			return &b->shortcut;
	}
	return NULL;
}

struct norm_layer *resnet_norm(struct resnet *net, unsigned n)
{
	if (n < 2 * RESNET_BLOCKS)
		return n % 2 ? &net->blocks[n / 2].norm2 : &net->blocks[n / 2].norm1;
	return n == 2 * RESNET_BLOCKS ? &net->norm : NULL;
}

void resnet_work(struct resnet *net)
{
	struct conv_layer *l;

	for (unsigned i = 0; (l = resnet_conv(net, i)); i++) {
		size_t bytes[3];

		CUDNN(cudnnGetConvolutionForwardWorkspaceSize(
			net->dnn, l->x_t, l->w_t, l->conv, l->y_t, l->forward, &bytes[0]));
		CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize(
			net->dnn, l->w_t, l->y_t, l->conv, l->x_t, l->data, &bytes[1]));
		CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(
			net->dnn, l->x_t, l->y_t, l->conv, l->w_t, l->filter, &bytes[2]));
		for (unsigned j = 0; j < 3; j++)
			if (bytes[j] > net->workspace_bytes)
				net->workspace_bytes = bytes[j];
	}
	CUDA(cudaMalloc(&net->workspace, net->workspace_bytes + 1));
}

void resnet_dump(const struct resnet *net, const char *path)
{
	FILE *file = fopen(path, "wb");
	float *host = malloc(net->block_floats * sizeof(*host));
	bool bad = !file || !host;

	for (unsigned i = 0; i < net->parameters && !bad; i++) {
		size_t count = net->count[i];

		CUDA(cudaMemcpy(
			host, net->weight[i], count * sizeof(float), cudaMemcpyDeviceToHost));
		bad = fwrite(host, sizeof(float), count, file) != count;
	}
	free(host);
	if ((file && fclose(file)) || bad)
		fail("could not write the weights");
}
