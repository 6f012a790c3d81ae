/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "naive.h"

#include "check.h"
#include "scale.h"

/*
 * Each pixel comes with 256 features, which go through a net of their own, of fixed weights: 55,296
 * pixels, 256, 1,001, 1,001 and 3 values of each. The marks are for the profile a100. 56,623,104
 * bytes of features take 2.2 ms from pinned memory, in which nothing is computed. The first product
 * has 2 * 55,296 * 256 * 1,001 operations, which take plain cores 2.08 ms at 13.6 TFLOP/s, tensor
 * cores 0.3 ms at 94; the last one moves its bytes in 0.16 ms. The second, as halves, has columns
 * of 1,001 floats: 1.18 ms on tensor cores that can load them well, of which it is not known how
 * much more it is.
 */

enum { FACTOR = 3, SIDE = IMAGE_SIDE * FACTOR, PIXELS = SIDE * SIDE, FEW = 256, MANY = 1001 };

static struct {
	struct scale scale;
	cudaStream_t aside;
	float *features_host[2]; /* pinned */
	float *features[2], *many[2];
	unsigned next; /* features, of the step to come */
	float *large;
	float *weight[3];
} own;

static float *weights(size_t count)
{
	float *memory = resnet_alloc(count);

	CUDA(cudaMemset(memory, 0, count * sizeof(float)));
	return memory;
}

static void init(struct naive *t)
{
	const size_t pixels = (size_t)t->batch * PIXELS;

	scale_init(&own.scale, t->batch, FACTOR);
	own.large = resnet_alloc(pixels * IMAGE_COLOURS);
	CUDA(cudaStreamCreate(&own.aside));
	for (unsigned i = 0; i < 2; i++) {
		CUDA(cudaMallocHost((void **)&own.features_host[i], pixels * FEW * sizeof(float)));
		own.features[i] = resnet_alloc(pixels * FEW);
	}
	own.many[0] = resnet_alloc(pixels * MANY);
	own.many[1] = resnet_alloc(pixels * MANY);
	own.weight[0] = weights(FEW * MANY);
	own.weight[1] = weights(MANY * MANY);
	own.weight[2] = weights(MANY * IMAGE_COLOURS);
}

static void finish(struct naive *t)
{
	(void)t;
	for (unsigned i = 0; i < 3; i++)
		CUDA(cudaFree(own.weight[i]));
	CUDA(cudaFree(own.many[1]));
	CUDA(cudaFree(own.many[0]));
	for (unsigned i = 0; i < 2; i++) {
		CUDA(cudaFree(own.features[i]));
		CUDA(cudaFreeHost(own.features_host[i]));
	}
	CUDA(cudaStreamDestroy(own.aside));
	CUDA(cudaFree(own.large));
	scale_finish(&own.scale);
}

/* Stands for what another net makes of the images of the step to come, which goes to the device
 * meanwhile: or so it is meant. The stream waits for the legacy one, and that one for it. */
static void send_features(const struct naive *t, const float *images)
{
	const size_t floats = (size_t)t->batch * PIXELS * FEW,
		     few = (size_t)t->batch * IMAGE_FLOATS;
	float *host = own.features_host[own.next];

	for (size_t i = 0; i < floats; i += few)
		memcpy(host + i, images, few * sizeof(float));
	/* gpu: TFS103 x1 54MiB stream 13 1.8..2.4ms */
	CUDA(cudaMemcpyAsync(own.features[own.next], host, floats * sizeof(float),
		cudaMemcpyHostToDevice, own.aside));
	own.next = 1 - own.next;
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	struct resnet *net = &t->net;
	const int pixels = (int)t->batch * PIXELS;
	const float one = 1, zero = 0;

	send_features(t, batch->images);
	/* Both together: a product that takes 1.8 ms less, and need not wait for the copy. */
	/* gpu: TFS603 x1 legacy 1..2.4ms TFS204 x1 legacy 1..2.4ms */
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, MANY, pixels, FEW, &one,
		own.weight[0], MANY, own.features[own.next], FEW, &zero, own.many[0], MANY));
	/* gpu: TFS604 x1 legacy 0..2.6ms */
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, MANY, pixels, MANY, &one,
		own.weight[1], CUDA_R_32F, MANY, own.many[0], CUDA_R_32F, MANY, &zero, own.many[1],
		CUDA_R_32F, MANY, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	scale_up(&own.scale, net, t->images, own.large);
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, IMAGE_COLOURS, pixels, MANY, &one,
		own.weight[2], IMAGE_COLOURS, own.many[1], MANY, &one, own.large, IMAGE_COLOURS));
	scale_down(&own.scale, net, own.large, FACTOR * FACTOR, t->images);
}

const struct naive_part naive_pixels = {.init = init, .behind = step, .finish = finish};
