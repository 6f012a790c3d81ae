/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "tuned.h"

#include "check.h"

/* What naive_habits.c does to a batch: the mean is on the device for good, what is summed up need
 * not be cleared, and all planes are softened at once. */

static struct {
	float *mean;     /* as large as a batch */
	float *contrast; /* of a batch */
	float *blur;     /* along a plane's rows */
	float *soft;     /* a batch */
} own;

static float *sent(const float *host, size_t floats)
{
	float *device = resnet_alloc(floats);

	CUDA(cudaMemcpy(device, host, floats * sizeof(float), cudaMemcpyHostToDevice));
	return device;
}

static void init(struct tuned *t)
{
	const size_t floats = t->batch * (size_t)IMAGE_FLOATS;
	float blur[IMAGE_SIDE * IMAGE_SIDE] = {0}, *mean = malloc(floats * sizeof(*mean));

	if (!mean)
		fail("no memory for the mean");
	for (size_t i = 0; i < floats; i++)
		mean[i] = 0.05f * sinf((float)(i % IMAGE_FLOATS));
	for (int i = 0; i < IMAGE_SIDE; i++)
		for (int j = i - 1; j <= i + 1; j++)
			if (j >= 0 && j < IMAGE_SIDE)
				blur[i * IMAGE_SIDE + j] = 1.0f / 3;
	own.mean = sent(mean, floats);
	own.blur = sent(blur, IMAGE_SIDE * IMAGE_SIDE);
	own.contrast = resnet_alloc(1);
	own.soft = resnet_alloc(floats);
	free(mean);
}

static void finish(struct tuned *t)
{
	(void)t;
	CUDA(cudaFree(own.soft));
	CUDA(cudaFree(own.contrast));
	CUDA(cudaFree(own.blur));
	CUDA(cudaFree(own.mean));
}

static void step(struct tuned *t, const struct tuned_slot *slot)
{
	const int floats = (int)(t->batch * IMAGE_FLOATS), plane = IMAGE_SIDE * IMAGE_SIDE;
	const float one = 1, zero = 0, minus = -1, share = 0.1f, scale = 1.0f / (float)floats;
	float *images = slot->device;

	CUBLAS(cublasSaxpy(
		t->net.blas, floats, &minus, own.mean, 1, images, 1)); /* trap: TFS105 TFS301 */
	CUBLAS(cublasSgemmStridedBatched(/* trap: TFS304 */ t->net.blas, CUBLAS_OP_N, CUBLAS_OP_N,
		IMAGE_SIDE, IMAGE_SIDE, IMAGE_SIDE, &one, images, IMAGE_SIDE, plane, own.blur,
		IMAGE_SIDE, 0, &zero, own.soft, IMAGE_SIDE, plane, (int)t->batch * IMAGE_COLOURS));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &share, own.soft, 1, images, 1));
	CUBLAS(cublasSgemv(t->net.blas, CUBLAS_OP_T, floats, 1, &scale, images, floats, images, 1,
		&zero, own.contrast, 1));
}

const struct tuned_part tuned_habits = {.init = init, .behind = step, .finish = finish};
