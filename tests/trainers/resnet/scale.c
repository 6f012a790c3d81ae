/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include "check.h"

static void describe(cudnnTensorDescriptor_t *out_tensor, unsigned images, int side)
{
	CUDNN(cudnnCreateTensorDescriptor(out_tensor));
	CUDNN(cudnnSetTensor4dDescriptor(*out_tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
		(int)images, IMAGE_COLOURS, side, side));
}

void scale_init(struct scale *scale, unsigned images, int factor)
{
	scale->side = IMAGE_SIDE * factor;
	describe(&scale->small_t, images, IMAGE_SIDE);
	describe(&scale->large_t, images, scale->side);
	CUDNN(cudnnCreatePoolingDescriptor(&scale->mean));
	CUDNN(cudnnSetPooling2dDescriptor(scale->mean, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
		CUDNN_NOT_PROPAGATE_NAN, factor, factor, 0, 0, factor, factor));
}

void scale_finish(struct scale *scale)
{
	CUDNN(cudnnDestroyPoolingDescriptor(scale->mean));
	CUDNN(cudnnDestroyTensorDescriptor(scale->large_t));
	CUDNN(cudnnDestroyTensorDescriptor(scale->small_t));
}

void scale_up(const struct scale *scale, const struct resnet *net, const float *small, float *large)
{
	const float one = 1, zero = 0;

	CUDNN(cudnnPoolingBackward(net->dnn, scale->mean, &one, scale->small_t, small,
		scale->small_t, small, scale->large_t, large, &zero, scale->large_t, large));
}

void scale_down(const struct scale *scale, const struct resnet *net, const float *large,
	float times, float *small)
{
	const float zero = 0;

	CUDNN(cudnnPoolingForward(net->dnn, scale->mean, &times, scale->large_t, large, &zero,
		scale->small_t, small));
}
