/* SPDX-License-Identifier: MIT */
/*
 * A trainer whose images come from pageable memory, for tests of the gate, in variants that a team
 * might make of it: the same under other names or on other lines, larger, fixed, or worse.
 *
 *	gated [STEPS [END [FILE]]]
 *
 * END is the exit status, or minus the signal that ends it; before that, it waits for FILE.
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef BATCH
#define BATCH 1 /* images and labels of each */
#endif
#ifndef BATCHES
#define BATCHES 1 /* to an update */
#endif
#ifndef UPLOADS
#define UPLOADS 1 /* of the same images */
#endif
#ifndef WAITING
#define WAITING INT_MAX /* the first step that waits */
#endif
#ifdef RENAMED
#define upload send_images
#endif
#define N 256
#ifdef UPLOAD_MORE
#define IMAGE_BYTES ((size_t)N * N * 32) /* of which half is computed with */
#else
#define IMAGE_BYTES ((size_t)BATCH * N * N * 16)
#endif
#ifdef SCALED
#define IMAGES (N * BATCH) /* that a product works on */
#else
#define IMAGES N
#endif
#define LABEL_BYTES ((size_t)BATCH * 1024)
#define FUNCTION static __attribute__((noinline)) void

static float *images, *labels, *weights, *gradients, *outputs;
static float *host, *host_labels;
#ifdef ELSEWHERE
static float *unpinned;
#endif
static cublasHandle_t handle;

#ifdef MOVED
/* What stands here moves all that is below to other lines, and
 * nothing
 * else.
 */
#endif
#ifdef OTHER_FILE
#line 1 "batches.c"
#endif

FUNCTION upload(void)
{
	for (int i = 0; i < UPLOADS; i++)
#ifdef FIXED
		cudaMemcpyAsync(images, host, IMAGE_BYTES, cudaMemcpyHostToDevice, 0);
#else
		cudaMemcpy(images, host, IMAGE_BYTES, cudaMemcpyHostToDevice);
#endif
}

__attribute__((unused)) FUNCTION upload_labels(void)
{
	cudaMemcpy(labels, host_labels, LABEL_BYTES, cudaMemcpyHostToDevice);
}

static void multiply(const float *a, const float *b, float *to, float keep)
{
	const float one = 1;

	cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, IMAGES, N, N, &one, a, IMAGES, b, N, &keep,
		to, IMAGES);
}

FUNCTION forward(void)
{
#ifdef ELSEWHERE
	cudaMemcpy(images, unpinned, IMAGE_BYTES, cudaMemcpyHostToDevice);
#endif
	multiply(images, weights, outputs, 0);
}

#ifdef LAYER
FUNCTION forward_more(void)
{
	multiply(outputs, weights, gradients, 0);
}
#endif

FUNCTION backward(bool first)
{
	multiply(images, outputs, gradients, first ? 0 : 1);
}

FUNCTION update(void)
{
	const float rate = -0.01f;

	cublasSaxpy(handle, N * N, &rate, gradients, 1, weights, 1);
}

FUNCTION wait_late(int number)
{
	if (number >= WAITING)
		cudaDeviceSynchronize();
}

static void step(int number)
{
	for (int i = 0; i < BATCHES; i++) {
		upload();
#ifndef SCALED
		upload_labels();
#endif
		forward();
#ifdef LAYER
		forward_more();
#endif
		backward(i == 0);
	}
	wait_late(number);
	update();
}

static void *allocate(size_t bytes)
{
	void *memory = NULL;

	cudaMalloc(&memory, bytes);
	return memory;
}

int main(int count, char **words)
{
	const int steps = count > 1 ? atoi(words[1]) : 300;
	const int end = count > 2 ? atoi(words[2]) : 0;

#ifdef FIXED
	cudaHostAlloc((void **)&host, IMAGE_BYTES, cudaHostAllocDefault);
#else
	host = malloc(IMAGE_BYTES);
#endif
#ifdef ELSEWHERE
	unpinned = malloc(IMAGE_BYTES);
#endif
	host_labels = calloc(1, LABEL_BYTES);
	images = allocate(IMAGE_BYTES);
	labels = allocate(LABEL_BYTES);
	weights = allocate(N * N * 4);
	gradients = allocate((size_t)IMAGES * N * 4);
	outputs = allocate((size_t)IMAGES * N * 4);
	cublasCreate(&handle);
	cudaMemset(weights, 0, N * N * 4);
	for (int i = 0; i < steps; i++) {
		/* As a loader would: never the same images twice. */
		for (size_t j = 0; j < IMAGE_BYTES / 4; j += 64)
			host[j] = (float)(i * 7 + (int)j % 5);
#ifdef ELSEWHERE
		for (size_t j = 0; j < IMAGE_BYTES / 4; j += 64)
			unpinned[j] = (float)(i * 7 + (int)j % 5);
#endif
		host_labels[i % 256] += 1;
		step(i);
	}
	cudaDeviceSynchronize();
	while (count > 3 && access(words[3], F_OK) != 0)
		usleep(1000);
	if (end < 0)
		raise(-end);
	return end;
}
