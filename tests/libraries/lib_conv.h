/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_LIB_CONV_H
#define TFS_TESTS_PROGRAMS_LIB_CONV_H

/*
 * Convolution problems for the tests of cuDNN: descriptors, data on both sides, and reference
 * results by the definition, in double.
 */

#include <cudnn.h>

#include "tests/libraries/lib_check.h"

struct lib_conv {
	int n, c, k, groups, h, w, r, s;
	int pad_h, pad_w, stride_h, stride_w, dil_h, dil_w;
	cudnnConvolutionMode_t mode;
	int layout; /* 0 NCHW, 1 NHWC, 2 NCHW with gaps */
	float alpha, beta;
};

enum { LIB_X, LIB_W, LIB_Y, LIB_ARRAYS };

struct lib_problem {
	struct lib_conv c;
	int p, q; /* output height and width */
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t conv;
	int stride[LIB_ARRAYS][4];
	size_t size[LIB_ARRAYS]; /* floats, gaps included */
	float *host[LIB_ARRAYS], *device[LIB_ARRAYS];
};

static inline void lib_strides(int layout, int c, int h, int w, int out[4])
{
	int gap = layout == 2 ? 3 : 0;

	if (layout == 1) {
		out[0] = h * w * c;
		out[1] = 1;
		out[2] = w * c;
		out[3] = c;
		return;
	}
	out[3] = 1;
	out[2] = w + gap;
	out[1] = h * out[2] + gap;
	out[0] = c * out[1] + gap;
}

static inline void lib_problem_init(struct lib_problem *p, const struct lib_conv *c)
{
	int cg = c->c / c->groups;

	memset(p, 0, sizeof(*p));
	p->c = *c;
	p->p = (c->h + 2 * c->pad_h - ((c->r - 1) * c->dil_h + 1)) / c->stride_h + 1;
	p->q = (c->w + 2 * c->pad_w - ((c->s - 1) * c->dil_w + 1)) / c->stride_w + 1;
	lib_strides(c->layout, c->c, c->h, c->w, p->stride[LIB_X]);
	lib_strides(c->layout, c->k, p->p, p->q, p->stride[LIB_Y]);
	lib_strides(c->layout == 1, cg, c->r, c->s, p->stride[LIB_W]);
	p->size[LIB_X] = (size_t)c->n * (size_t)p->stride[LIB_X][0];
	p->size[LIB_Y] = (size_t)c->n * (size_t)p->stride[LIB_Y][0];
	p->size[LIB_W] = (size_t)c->k * (size_t)p->stride[LIB_W][0];
	for (int i = 0; i < LIB_ARRAYS; i++) {
		p->host[i] = lib_values(p->size[i], (uint32_t)i * 77 + 5);
		p->device[i] = lib_upload(p->host[i], p->size[i]);
	}
	LIB_EQ(cudnnCreateTensorDescriptor(&p->x), 0);
	LIB_EQ(cudnnCreateTensorDescriptor(&p->y), 0);
	LIB_EQ(cudnnCreateFilterDescriptor(&p->w), 0);
	LIB_EQ(cudnnCreateConvolutionDescriptor(&p->conv), 0);
	LIB_EQ(cudnnSetTensor4dDescriptorEx(p->x, CUDNN_DATA_FLOAT, c->n, c->c, c->h, c->w,
		       p->stride[LIB_X][0], p->stride[LIB_X][1], p->stride[LIB_X][2],
		       p->stride[LIB_X][3]),
		0);
	LIB_EQ(cudnnSetTensor4dDescriptorEx(p->y, CUDNN_DATA_FLOAT, c->n, c->k, p->p, p->q,
		       p->stride[LIB_Y][0], p->stride[LIB_Y][1], p->stride[LIB_Y][2],
		       p->stride[LIB_Y][3]),
		0);
	LIB_EQ(cudnnSetFilter4dDescriptor(p->w, CUDNN_DATA_FLOAT,
		       c->layout == 1 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, c->k, cg, c->r,
		       c->s),
		0);
	LIB_EQ(cudnnSetConvolution2dDescriptor(p->conv, c->pad_h, c->pad_w, c->stride_h,
		       c->stride_w, c->dil_h, c->dil_w, c->mode, CUDNN_DATA_FLOAT),
		0);
	LIB_EQ(cudnnSetConvolutionGroupCount(p->conv, c->groups), 0);
}

static inline void lib_problem_finish(struct lib_problem *p)
{
	cudnnDestroyConvolutionDescriptor(p->conv);
	cudnnDestroyFilterDescriptor(p->w);
	cudnnDestroyTensorDescriptor(p->x);
	cudnnDestroyTensorDescriptor(p->y);
	for (int i = 0; i < LIB_ARRAYS; i++) {
		free(p->host[i]);
		cudaFree(p->device[i]);
	}
}

/* What an algorithm for the array `out` needs; fails for one that does not apply. */
static inline cudnnStatus_t lib_workspace_size(
	cudnnHandle_t dnn, const struct lib_problem *p, int out, int algo, size_t *size)
{
	if (out == LIB_Y)
		return cudnnGetConvolutionForwardWorkspaceSize(
			dnn, p->x, p->w, p->conv, p->y, (cudnnConvolutionFwdAlgo_t)algo, size);
	if (out == LIB_X)
		return cudnnGetConvolutionBackwardDataWorkspaceSize(
			dnn, p->w, p->y, p->conv, p->x, (cudnnConvolutionBwdDataAlgo_t)algo, size);
	return cudnnGetConvolutionBackwardFilterWorkspaceSize(
		dnn, p->x, p->y, p->conv, p->w, (cudnnConvolutionBwdFilterAlgo_t)algo, size);
}

/* result = alpha * (the array `out` from the other two) + beta * result. */
static inline cudnnStatus_t lib_convolve(cudnnHandle_t dnn, const struct lib_problem *p, int out,
	int algo, void *work, size_t size, float *result)
{
	float *const *d = p->device;
	const float *a = &p->c.alpha, *b = &p->c.beta;

	if (out == LIB_Y)
		return cudnnConvolutionForward(dnn, a, p->x, d[LIB_X], p->w, d[LIB_W], p->conv,
			(cudnnConvolutionFwdAlgo_t)algo, work, size, b, p->y, result);
	if (out == LIB_X)
		return cudnnConvolutionBackwardData(dnn, a, p->w, d[LIB_W], p->y, d[LIB_Y], p->conv,
			(cudnnConvolutionBwdDataAlgo_t)algo, work, size, b, p->x, result);
	return cudnnConvolutionBackwardFilter(dnn, a, p->x, d[LIB_X], p->y, d[LIB_Y], p->conv,
		(cudnnConvolutionBwdFilterAlgo_t)algo, work, size, b, p->w, result);
}

/* One product of the sum: offsets of its x, w and y, or false when it falls on the padding. */
static inline bool lib_term(const struct lib_problem *p, const int at[7], size_t out[LIB_ARRAYS])
{
	const struct lib_conv *c = &p->c;
	int n = at[0], k = at[1], ch = at[2], y = at[3], x = at[4], r = at[5], s = at[6];
	int cg = c->c / c->groups;
	int group = k / (c->k / c->groups);
	int ih = y * c->stride_h - c->pad_h + r * c->dil_h;
	int iw = x * c->stride_w - c->pad_w + s * c->dil_w;
	const int *xs = p->stride[LIB_X], *ws = p->stride[LIB_W], *ys = p->stride[LIB_Y];

	if (ih < 0 || ih >= c->h || iw < 0 || iw >= c->w)
		return false;
	if (c->mode == CUDNN_CONVOLUTION) {
		r = c->r - 1 - r;
		s = c->s - 1 - s;
	}
	out[LIB_X] = (size_t)(n * xs[0] + (group * cg + ch) * xs[1] + ih * xs[2] + iw * xs[3]);
	out[LIB_W] = (size_t)(k * ws[0] + ch * ws[1] + r * ws[2] + s * ws[3]);
	out[LIB_Y] = (size_t)(n * ys[0] + k * ys[1] + y * ys[2] + x * ys[3]);
	return true;
}

/* Sums a * b into array out, all three in the program's layout; returns the sums in double. */
static inline double *lib_reference(const struct lib_problem *p, int out)
{
	const struct lib_conv *c = &p->c;
	int limit[7] = {c->n, c->k, c->c / c->groups, p->p, p->q, c->r, c->s};
	int a = out == LIB_X ? LIB_W : LIB_X;
	int b = out == LIB_Y ? LIB_W : LIB_Y;
	double *sum = calloc(p->size[out] + 1, sizeof(*sum));
	int at[7] = {0};
	int i;

	do {
		size_t o[LIB_ARRAYS];

		if (sum && lib_term(p, at, o))
			sum[o[out]] += (double)p->host[a][o[a]] * (double)p->host[b][o[b]];
		for (i = 6; i >= 0 && ++at[i] == limit[i]; i--)
			at[i] = 0;
	} while (i >= 0);
	return sum;
}

#endif
