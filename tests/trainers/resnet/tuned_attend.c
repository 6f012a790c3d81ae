/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"
#include "scale.h"

/* Looks at all pixels as naive_attend.c does, for half of an image's at a time: these scores, 10.6
 * MB, stay in a cache of 40 until they are used up. */

enum {
	FACTOR = 3,
	SIDE = IMAGE_SIDE * FACTOR,
	PIXELS = SIDE * SIDE,
	HALF = PIXELS / 2,
};

static struct {
	struct scale scale;
	cudnnTensorDescriptor_t scores_t;
	float *large, *smooth;
	float *scores;
} own;

static void init(struct tuned *t)
{
	const size_t floats = (size_t)t->batch * IMAGE_COLOURS * PIXELS;

	scale_init(&own.scale, t->batch, FACTOR);
	CUDNN(cudnnCreateTensorDescriptor(&own.scores_t));
	CUDNN(cudnnSetTensor4dDescriptor(
		own.scores_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, HALF, PIXELS, 1, 1));
	own.large = resnet_alloc(floats);
	own.smooth = resnet_alloc(floats);
	own.scores = resnet_alloc((size_t)PIXELS * HALF);
}

static void finish(struct tuned *t)
{
	(void)t;
	CUDA(cudaFree(own.scores));
	CUDA(cudaFree(own.smooth));
	CUDA(cudaFree(own.large));
	CUDNN(cudnnDestroyTensorDescriptor(own.scores_t));
	scale_finish(&own.scale);
}

/* What the pixels at `smooth` become, HALF of an image. */
static void attend(struct resnet *net, const float *image, const float *pixels, float *smooth)
{
	const float one = 1, zero = 0;

	CUBLAS(cublasSgemm(/* trap: TFS306 */ net->blas, CUBLAS_OP_N, CUBLAS_OP_T, PIXELS, HALF,
		IMAGE_COLOURS, &one, image, PIXELS, pixels, PIXELS, &zero, own.scores, PIXELS));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE,
		&one, own.scores_t, own.scores, &zero, own.scores_t, own.scores));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, HALF, IMAGE_COLOURS, PIXELS, &one,
		own.scores, PIXELS, image, PIXELS, &zero, smooth, PIXELS));
}

static void step(struct tuned *t, const struct tuned_slot *slot)
{
	const size_t image = (size_t)IMAGE_COLOURS * PIXELS;

	scale_up(&own.scale, &t->net, slot->device, own.large);
	for (unsigned i = 0; i < 2 * t->batch; i++) {
		const size_t at = i / 2 * image + i % 2 * HALF;

		attend(&t->net, own.large + i / 2 * image, own.large + at, own.smooth + at);
	}
	scale_down(&own.scale, &t->net, own.smooth, FACTOR * FACTOR, slot->device);
}

const struct tuned_part tuned_attend = {.init = init, .behind = step, .finish = finish};
