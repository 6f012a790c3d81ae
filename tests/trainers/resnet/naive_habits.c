/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include <math.h>

#include "check.h"

/*
 * Habits of preparing a batch, in modelled time on the device slow. A copy from pinned memory takes
 * 30 us of its own and 59 us for the bytes of a batch, which are gained where it is made once; the
 * device would not clear as much any faster. The marks are an eighth wider, below and above.
 */

static float *pinned(size_t floats)
{
	void *memory = NULL;

	CUDA(cudaMallocHost(&memory, floats * sizeof(float)));
	return memory;
}

void naive_habits_init(struct naive *t)
{
	struct naive_habits *h = &t->habits;
	const size_t floats = t->batch * IMAGE_FLOATS;

	h->mean_host = pinned(floats);
	h->zeros_host = pinned(floats);
	for (size_t i = 0; i < floats; i++) {
		h->mean_host[i] = 0.05f * sinf((float)(i % IMAGE_FLOATS));
		h->zeros_host[i] = 0;
	}
	h->mean = resnet_alloc(floats);
	h->squares = resnet_alloc(floats);
	h->contrast = resnet_alloc(1);
}

void naive_habits_finish(struct naive *t)
{
	struct naive_habits *h = &t->habits;

	CUDA(cudaFree(h->contrast));
	CUDA(cudaFree(h->squares));
	CUDA(cudaFree(h->mean));
	CUDA(cudaFreeHost(h->zeros_host));
	CUDA(cudaFreeHost(h->mean_host));
}

/* What is common to all images goes; it is sent again for each batch. */
static void subtract_mean(struct naive *t)
{
	struct naive_habits *h = &t->habits;
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	const float minus = -1;

	/* expect: TFS105 x1 72KiB legacy 78..100us */
	CUDA(cudaMemcpyAsync(h->mean, h->mean_host, (size_t)floats * sizeof(float),
		cudaMemcpyHostToDevice, t->net.stream));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &minus, h->mean, 1, t->images, 1));
}

/* What is summed up is cleared by zeros from the host. */
static void measure_contrast(struct naive *t)
{
	struct naive_habits *h = &t->habits;
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	const float scale = 1.0f / (float)floats, zero = 0;

	/* expect: TFS106 x1 72KiB legacy 0us */
	CUDA(cudaMemcpyAsync(h->squares, h->zeros_host, (size_t)floats * sizeof(float),
		cudaMemcpyHostToDevice, t->net.stream));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &scale, t->images, 1, h->squares, 1));
	CUBLAS(cublasSgemv(t->net.blas, CUBLAS_OP_T, floats, 1, &scale, t->images, floats,
		h->squares, 1, &zero, h->contrast, 1));
}

void naive_habits(struct naive *t)
{
	subtract_mean(t);
	measure_contrast(t);
}
