/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/*
 * Each image is made a little darker by a function that wants colours beside each other, and turned
 * into that layout and back for it. The mark is for the profile a100: it takes the host 7 us to
 * launch each of 48 kernels that only turn, for which the device waits.
 */

static struct {
	cudnnTensorDescriptor_t planes_t, pixels_t; /* of an image */
	float *pixels;
} own;

static void init(struct naive *t)
{
	(void)t;
	CUDNN(cudnnCreateTensorDescriptor(&own.planes_t));
	CUDNN(cudnnCreateTensorDescriptor(&own.pixels_t));
	CUDNN(cudnnSetTensor4dDescriptor(own.planes_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1,
		IMAGE_COLOURS, IMAGE_SIDE, IMAGE_SIDE));
	CUDNN(cudnnSetTensor4dDescriptor(own.pixels_t, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1,
		IMAGE_COLOURS, IMAGE_SIDE, IMAGE_SIDE));
	own.pixels = resnet_alloc(IMAGE_FLOATS);
}

static void finish(struct naive *t)
{
	(void)t;
	CUDA(cudaFree(own.pixels));
	CUDNN(cudnnDestroyTensorDescriptor(own.pixels_t));
	CUDNN(cudnnDestroyTensorDescriptor(own.planes_t));
}

static __attribute__((noinline)) void turn(struct resnet *net, cudnnTensorDescriptor_t from_t,
	const float *from, cudnnTensorDescriptor_t to_t, float *to)
{
	const float one = 1, zero = 0;

	/* gpu: TFS606 x48 144KiB legacy 250..450us */
	CUDNN(cudnnTransformTensor(net->dnn, &one, from_t, from, &zero, to_t, to));
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	const float darker = 0.9f;

	(void)batch;
	for (unsigned i = 0; i < t->batch; i++) {
		float *image = t->images + (size_t)i * IMAGE_FLOATS;

		turn(&t->net, own.planes_t, image, own.pixels_t, own.pixels);
		CUBLAS(cublasSscal(t->net.blas, IMAGE_FLOATS, &darker, own.pixels, 1));
		turn(&t->net, own.pixels_t, own.pixels, own.planes_t, image);
	}
}

const struct naive_part naive_layout = {.init = init, .behind = step, .finish = finish};
