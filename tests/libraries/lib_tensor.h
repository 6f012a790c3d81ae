/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_LIB_TENSOR_H
#define TFS_TESTS_PROGRAMS_LIB_TENSOR_H

/*
 * For the tests of cuDNN's layers: packed 4-D tensors with their data on both sides and, for
 * outputs, what they must become.
 */

#include <cudnn.h>

#include "tests/libraries/lib_check.h"

/* A tensor with data on both sides and, for outputs, what it must become. */
struct tensor {
	cudnnTensorDescriptor_t desc;
	int n, c, h, w;
	size_t size;
	float *host, *device;
	double *want;
};

static inline struct tensor make(int n, int c, int h, int w, uint32_t seed)
{
	struct tensor t = {.n = n, .c = c, .h = h, .w = w};

	t.size = (size_t)n * (size_t)c * (size_t)h * (size_t)w;
	t.host = seed ? lib_values(t.size, seed) : lib_filled(t.size, NAN);
	t.device = lib_upload(t.host, t.size);
	t.want = calloc(t.size, sizeof(double));
	LIB_EQ(cudnnCreateTensorDescriptor(&t.desc), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(t.desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w),
		0);
	return t;
}

static inline void discard(struct tensor *t)
{
	cudnnDestroyTensorDescriptor(t->desc);
	cudaFree(t->device);
	free(t->host);
	free(t->want);
}

/* Compares, and puts the old contents back. */
static inline void check(const char *what, struct tensor *t, double tolerance)
{
	float *got = lib_values(t->size, 1);

	lib_download(got, t->device, t->size);
	lib_near(what, got, t->want, t->size, tolerance);
	LIB_EQ(cudaMemcpy(t->device, t->host, t->size * sizeof(float), cudaMemcpyHostToDevice), 0);
	free(got);
}

/* want = alpha * want + beta * old, as every call promises. */
static inline void blend(struct tensor *t, float alpha, float beta)
{
	for (size_t i = 0; i < t->size; i++)
		t->want[i] = (double)alpha * t->want[i] +
			     (beta != 0.0f ? (double)beta * (double)t->host[i] : 0.0);
}

/* Channel c, place i of image n. */
static inline size_t at(const struct tensor *t, int n, int c, int i)
{
	return (size_t)((n * t->c + c) * t->h * t->w + i);
}

#endif
