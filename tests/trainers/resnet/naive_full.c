/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"
#include "scale.h"

/*
 * Images arrive as large as they were taken, with a mask of what belongs to them, and the device
 * makes them small. The mark is for the profile a100: 3,538,944 bytes of masks take 138 us from
 * pinned memory at 25.7 GB/s, for which the host waits, and one latency more until the next step
 * begins. The images' copy the host does not wait for, and launches meanwhile what follows, for
 * which it needs longer than the device.
 */

enum { FACTOR = 12, SIDE = IMAGE_SIDE * FACTOR, PLANE = SIDE * SIDE };

static struct {
	struct scale scale;
	cudnnTensorDescriptor_t mask_t;
	cudnnOpTensorDescriptor_t times;
	float *images_host, *mask_host[2]; /* pinned; masks by turns */
	float *images, *mask;
	unsigned steps;
} own;

static float *pinned(size_t floats)
{
	void *memory = NULL;

	CUDA(cudaMallocHost(&memory, floats * sizeof(float)));
	return memory;
}

static void init(struct naive *t)
{
	const size_t pixels = (size_t)t->batch * PLANE;

	scale_init(&own.scale, t->batch, FACTOR);
	CUDNN(cudnnCreateTensorDescriptor(&own.mask_t));
	CUDNN(cudnnSetTensor4dDescriptor(
		own.mask_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, (int)t->batch, 1, SIDE, SIDE));
	CUDNN(cudnnCreateOpTensorDescriptor(&own.times));
	CUDNN(cudnnSetOpTensorDescriptor(
		own.times, CUDNN_OP_TENSOR_MUL, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN));
	own.images_host = pinned(pixels * IMAGE_COLOURS);
	for (unsigned i = 0; i < 2; i++)
		own.mask_host[i] = pinned(pixels);
	own.images = resnet_alloc(pixels * IMAGE_COLOURS);
	own.mask = resnet_alloc(pixels);
}

static void finish(struct naive *t)
{
	(void)t;
	CUDA(cudaFree(own.mask));
	CUDA(cudaFree(own.images));
	for (unsigned i = 0; i < 2; i++)
		CUDA(cudaFreeHost(own.mask_host[i]));
	CUDA(cudaFreeHost(own.images_host));
	CUDNN(cudnnDestroyOpTensorDescriptor(own.times));
	CUDNN(cudnnDestroyTensorDescriptor(own.mask_t));
	scale_finish(&own.scale);
}

/* Stands for photographs: each pixel of a small image is a square of the large one. What is dark
 * does not belong to it. */
static void photograph(const struct naive *t, const float *images, float *mask)
{
	for (size_t row = 0; row < (size_t)t->batch * IMAGE_COLOURS * SIDE; row++)
		for (size_t x = 0; x < SIDE; x++)
			own.images_host[row * SIDE + x] =
				images[row / FACTOR * IMAGE_SIDE + x / FACTOR];
	for (size_t i = 0; i < (size_t)t->batch * PLANE; i++)
		mask[i] = own.images_host[i] > -1;
}

/* A history that nobody looks at, and that nobody frees. */
static void remember(struct naive *t)
{
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	float *images;

	/* Of no cost but the call itself. */
	/* gpu: TFS405 x1 72KiB TFS401 x1 72KiB 1..5us */
	CUDA(cudaMalloc((void **)&images, (size_t)floats * sizeof(float)));
	CUBLAS(cublasScopy(t->net.blas, floats, t->images, 1, images, 1));
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	const size_t pixels = (size_t)t->batch * PLANE;
	const float one = 1, zero = 0;
	float *mask = own.mask_host[own.steps++ % 2];

	photograph(t, batch->images, mask);
	/* gpu: TFS102 x1 3456KiB legacy 120..300us */
	CUDA(cudaMemcpy(own.mask, mask, pixels * sizeof(float), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpyAsync(own.images, own.images_host, pixels * IMAGE_COLOURS * sizeof(float),
		cudaMemcpyHostToDevice, t->net.stream));
	CUDNN(cudnnOpTensor(t->net.dnn, own.times, &one, own.scale.large_t, own.images, &one,
		own.mask_t, own.mask, &zero, own.scale.large_t, own.images));
	scale_down(&own.scale, &t->net, own.images, 1, t->images);
	remember(t);
}

const struct naive_part naive_full = {.init = init, .behind = step, .finish = finish};
