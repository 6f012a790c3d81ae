/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"
#include "scale.h"

/*
 * Noise is taken out of images by looking at all that is alike: each pixel becomes the mean of all
 * pixels of its image, by how near their colours are. The marks are for the profile a100: 510 MB of
 * scores are written, read and written by the softmax, and read again, at 1.4 TB/s: 1.46 ms, some
 * of which a kernel that keeps them to itself needs for computing; the softmax's exponentials take
 * 3 ms more there, which such a kernel need not compute so exactly.
 */

enum { FACTOR = 3, SIDE = IMAGE_SIDE * FACTOR, PIXELS = SIDE * SIDE, SCORES = PIXELS * PIXELS };

static struct {
	struct scale scale;
	cudnnTensorDescriptor_t scores_t;
	float *large, *smooth;
	float *scores;
} own;

static void init(struct naive *t)
{
	const size_t floats = (size_t)t->batch * IMAGE_COLOURS * PIXELS;

	scale_init(&own.scale, t->batch, FACTOR);
	CUDNN(cudnnCreateTensorDescriptor(&own.scores_t));
	CUDNN(cudnnSetTensor4dDescriptor(own.scores_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
		(int)t->batch * PIXELS, PIXELS, 1, 1));
	own.large = resnet_alloc(floats);
	own.smooth = resnet_alloc(floats);
	own.scores = resnet_alloc((size_t)t->batch * SCORES);
}

static void finish(struct naive *t)
{
	(void)t;
	CUDA(cudaFree(own.scores));
	CUDA(cudaFree(own.smooth));
	CUDA(cudaFree(own.large));
	CUDNN(cudnnDestroyTensorDescriptor(own.scores_t));
	scale_finish(&own.scale);
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	struct resnet *net = &t->net;
	const long long image = (long long)IMAGE_COLOURS * PIXELS;
	const float near = 1, one = 1, zero = 0;

	(void)batch;
	scale_up(&own.scale, net, t->images, own.large);
	/* gpu: TFS306 x1 1944MiB legacy 0.5..4.6ms */
	CUBLAS(cublasSgemmStridedBatched(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, PIXELS, PIXELS,
		IMAGE_COLOURS, &near, own.large, PIXELS, image, own.large, PIXELS, image, &zero,
		own.scores, PIXELS, SCORES, (int)t->batch));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE,
		&one, own.scores_t, own.scores, &zero, own.scores_t, own.scores));
	CUBLAS(cublasSgemmStridedBatched(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, PIXELS, IMAGE_COLOURS,
		PIXELS, &one, own.scores, PIXELS, SCORES, own.large, PIXELS, image, &zero,
		own.smooth, PIXELS, image, (int)t->batch));
	scale_down(&own.scale, net, own.smooth, FACTOR * FACTOR, t->images);
}

const struct naive_part naive_attend = {.init = init, .behind = step, .finish = finish};
