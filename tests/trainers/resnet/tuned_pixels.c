/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tuned.h"

#include "check.h"
#include "scale.h"
#include "sent.h"

/* The net for pixels of naive_pixels.c: its features are sent ahead, its products round to TF32 or
 * to halves, and its columns are filled up to 1,008. */

enum { FACTOR = 3, SIDE = IMAGE_SIDE * FACTOR, PIXELS = SIDE * SIDE, FEW = 256, MANY = 1008 };

static struct {
	struct scale scale;
	struct sent sent;
	float *many[2], *large;
	float *weight[3];
	cublasHandle_t blas;
} own;

static float *weights(size_t count)
{
	float *memory = resnet_alloc(count);

	CUDA(cudaMemset(memory, 0, count * sizeof(float)));
	return memory;
}

static void init(struct tuned *t)
{
	const size_t pixels = (size_t)t->batch * PIXELS;

	scale_init(&own.scale, t->batch, FACTOR);
	sent_init(&own.sent, pixels * FEW);
	own.many[0] = resnet_alloc(pixels * MANY);
	own.many[1] = resnet_alloc(pixels * MANY);
	own.large = resnet_alloc(pixels * IMAGE_COLOURS);
	own.weight[0] = weights(FEW * MANY);
	own.weight[1] = weights(MANY * MANY);
	own.weight[2] = weights(MANY * IMAGE_COLOURS);
	CUBLAS(cublasCreate(&own.blas));
	CUBLAS(cublasSetStream(own.blas, t->net.stream));
	CUBLAS(cublasSetMathMode(own.blas, CUBLAS_TF32_TENSOR_OP_MATH));
}

static void finish(struct tuned *t)
{
	(void)t;
	CUBLAS(cublasDestroy(own.blas));
	for (unsigned i = 0; i < 3; i++)
		CUDA(cudaFree(own.weight[i]));
	CUDA(cudaFree(own.large));
	CUDA(cudaFree(own.many[1]));
	CUDA(cudaFree(own.many[0]));
	sent_finish(&own.sent);
	scale_finish(&own.scale);
}

/* Stands for what another net makes of the images. */
static void send_features(const struct tuned *t, const float *images)
{
	const size_t floats = (size_t)t->batch * PIXELS * FEW,
		     few = (size_t)t->batch * IMAGE_FLOATS;
	float *host = sent_fill(&own.sent);

	for (size_t i = 0; i < floats; i += few)
		memcpy(host + i, images, few * sizeof(float));
	sent_go(&own.sent);
}

static void step(struct tuned *t, const struct tuned_slot *slot)
{
	const int pixels = (int)t->batch * PIXELS;
	const float one = 1, zero = 0;
	const float *features;

	if (!t->step)
		send_features(t, loader_take(&t->loader, 0)->images);
	send_features(t, loader_take(&t->loader, t->step + 1)->images);
	features = sent_take(&own.sent, t->net.stream);
	CUBLAS(cublasSgemm(/* trap: TFS603 */ own.blas, CUBLAS_OP_N, CUBLAS_OP_N, MANY, pixels, FEW,
		&one, own.weight[0], MANY, features, FEW, &zero, own.many[0], MANY));
	sent_give(&own.sent, t->net.stream);
	CUBLAS(cublasGemmEx(/* trap: TFS604 */ own.blas, CUBLAS_OP_N, CUBLAS_OP_N, MANY, pixels,
		MANY, &one, own.weight[1], CUDA_R_32F, MANY, own.many[0], CUDA_R_32F, MANY, &zero,
		own.many[1], CUDA_R_32F, MANY, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	scale_up(&own.scale, &t->net, slot->device, own.large);
	CUBLAS(cublasSgemm(own.blas, CUBLAS_OP_N, CUBLAS_OP_N, IMAGE_COLOURS, pixels, MANY, &one,
		own.weight[2], IMAGE_COLOURS, own.many[1], MANY, &one, own.large, IMAGE_COLOURS));
	scale_down(&own.scale, &t->net, own.large, FACTOR * FACTOR, slot->device);
}

const struct tuned_part tuned_pixels = {.init = init, .behind = step, .finish = finish};
