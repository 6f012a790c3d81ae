/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include <math.h>

#include "check.h"

/*
 * Habits of preparing a batch, in modelled time on the device slow. A copy from pinned memory takes
 * 30 us of its own and 59 us for the bytes of a batch, which are gained where it is made once; the
 * device would not clear as much any faster. The marks are an eighth wider, below and above.
 */

static struct {
	float *mean_host, *zeros_host; /* pinned, as large as a batch */
	float *mean, *squares;
	float *contrast; /* of a batch */
	float *blur;     /* along a plane's rows */
	float *soft;     /* a batch */
} own;

static float *pinned(size_t floats)
{
	void *memory = NULL;

	CUDA(cudaMallocHost(&memory, floats * sizeof(float)));
	return memory;
}

/* A matrix by which a plane's columns become means of what lies beside them. */
static float *blur(void)
{
	float host[IMAGE_SIDE * IMAGE_SIDE] = {0}, *matrix = resnet_alloc(IMAGE_SIDE * IMAGE_SIDE);

	for (int i = 0; i < IMAGE_SIDE; i++)
		for (int j = i - 1; j <= i + 1; j++)
			if (j >= 0 && j < IMAGE_SIDE)
				host[i * IMAGE_SIDE + j] = 1.0f / 3;
	CUDA(cudaMemcpy(matrix, host, sizeof(host), cudaMemcpyHostToDevice));
	return matrix;
}

static void init(struct naive *t)
{
	const size_t floats = t->batch * IMAGE_FLOATS;

	own.mean_host = pinned(floats);
	own.zeros_host = pinned(floats);
	for (size_t i = 0; i < floats; i++) {
		own.mean_host[i] = 0.05f * sinf((float)(i % IMAGE_FLOATS));
		own.zeros_host[i] = 0;
	}
	own.mean = resnet_alloc(floats);
	own.squares = resnet_alloc(floats);
	own.contrast = resnet_alloc(1);
	own.blur = blur();
	own.soft = resnet_alloc(floats);
}

static void finish(struct naive *t)
{
	(void)t;
	CUDA(cudaFree(own.soft));
	CUDA(cudaFree(own.blur));
	CUDA(cudaFree(own.contrast));
	CUDA(cudaFree(own.squares));
	CUDA(cudaFree(own.mean));
	CUDA(cudaFreeHost(own.zeros_host));
	CUDA(cudaFreeHost(own.mean_host));
}

/* What is common to all images goes; it is sent again for each batch. */
static void subtract_mean(struct naive *t)
{
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	const float minus = -1;

	/* expect: TFS105 x1 72KiB legacy 78..100us */
	CUDA(cudaMemcpyAsync(own.mean, own.mean_host, (size_t)floats * sizeof(float),
		cudaMemcpyHostToDevice, t->net.stream));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &minus, own.mean, 1, t->images, 1));
}

/* What is summed up is cleared by zeros from the host. */
static void measure_contrast(struct naive *t)
{
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	const float scale = 1.0f / (float)floats, zero = 0;

	/* expect: TFS106 x1 72KiB legacy 0us */
	CUDA(cudaMemcpyAsync(own.squares, own.zeros_host, (size_t)floats * sizeof(float),
		cudaMemcpyHostToDevice, t->net.stream));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &scale, t->images, 1, own.squares, 1));
	CUBLAS(cublasSgemv(t->net.blas, CUBLAS_OP_T, floats, 1, &scale, t->images, floats,
		own.squares, 1, &zero, own.contrast, 1));
}

/* Plane by plane: of 72 launches that take 40 us each whatever they do, 71 are saved. */
static void soften(struct naive *t)
{
	const size_t plane = IMAGE_SIDE * IMAGE_SIDE;
	const float one = 1, zero = 0, share = 0.1f;

	for (unsigned i = 0; i < t->batch * IMAGE_COLOURS; i++)
		/* expect: TFS304 x72 legacy 2.5..3.2ms */
		CUBLAS(cublasSgemm(t->net.blas, CUBLAS_OP_N, CUBLAS_OP_N, IMAGE_SIDE, IMAGE_SIDE,
			IMAGE_SIDE, &one, t->images + i * plane, IMAGE_SIDE, own.blur, IMAGE_SIDE,
			&zero, own.soft + i * plane, IMAGE_SIDE));
	CUBLAS(cublasSaxpy(
		t->net.blas, (int)(t->batch * IMAGE_FLOATS), &share, own.soft, 1, t->images, 1));
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	(void)batch;
	subtract_mean(t);
	soften(t);
	measure_contrast(t);
}

const struct naive_part naive_habits = {.init = init, .behind = step, .finish = finish};
