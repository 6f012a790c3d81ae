/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"
#include "scale.h"
#include "sent.h"

/* Large images and masks as in naive_full.c: those of the next step go to the device while this one
 * is computed. No history is kept. */

enum { FACTOR = 12, SIDE = IMAGE_SIDE * FACTOR, PLANE = SIDE * SIDE };

static struct {
	struct scale scale;
	cudnnTensorDescriptor_t mask_t;
	cudnnOpTensorDescriptor_t times;
	struct sent sent; /* images, and behind them masks */
} own;

/* Stands for photographs: each pixel of a small image is a square of the large one. What is dark
 * does not belong to it. */
static void photograph(struct tuned *t, const float *images)
{
	const size_t rows = (size_t)t->batch * IMAGE_COLOURS * SIDE;
	float *large = sent_fill(&own.sent), *mask = large + rows * SIDE;

	for (size_t row = 0; row < rows; row++)
		for (size_t x = 0; x < SIDE; x++)
			large[row * SIDE + x] = images[row / FACTOR * IMAGE_SIDE + x / FACTOR];
	for (size_t i = 0; i < (size_t)t->batch * PLANE; i++)
		mask[i] = large[i] > -1;
	sent_go(&own.sent);
}

static void init(struct tuned *t)
{
	scale_init(&own.scale, t->batch, FACTOR);
	CUDNN(cudnnCreateTensorDescriptor(&own.mask_t));
	CUDNN(cudnnSetTensor4dDescriptor(
		own.mask_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, (int)t->batch, 1, SIDE, SIDE));
	CUDNN(cudnnCreateOpTensorDescriptor(&own.times));
	CUDNN(cudnnSetOpTensorDescriptor(
		own.times, CUDNN_OP_TENSOR_MUL, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN));
	sent_init(&own.sent, (size_t)t->batch * (IMAGE_COLOURS + 1) * PLANE);
}

static void finish(struct tuned *t)
{
	(void)t;
	sent_finish(&own.sent);
	CUDNN(cudnnDestroyOpTensorDescriptor(own.times));
	CUDNN(cudnnDestroyTensorDescriptor(own.mask_t));
	scale_finish(&own.scale);
}

static void step(struct tuned *t, const struct tuned_slot *slot)
{
	const size_t floats = (size_t)t->batch * IMAGE_COLOURS * PLANE;
	const float one = 1, zero = 0;
	float *large;

	if (!t->step)
		photograph(t, loader_take(&t->loader, 0)->images);
	photograph(t, loader_take(&t->loader, t->step + 1)->images);
	large = sent_take(&own.sent, t->net.stream);
	CUDNN(cudnnOpTensor(t->net.dnn, own.times, &one, own.scale.large_t, large, &one, own.mask_t,
		large + floats, &zero, own.scale.large_t, large));
	scale_down(&own.scale, &t->net, large, 1, slot->device);
	sent_give(&own.sent, t->net.stream);
}

const struct tuned_part tuned_full = {.init = init, .behind = step, .finish = finish};
