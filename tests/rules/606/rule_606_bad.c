/* SPDX-License-Identifier: MIT */
/* TFS606: a convolution is given its input in NHWC, into which each step copies it, and what it
 * gives is copied back into NCHW. The clean twin has all of it in NCHW. The trap copies a part of a
 * tensor, and one whose maps have an image's size of one: neither changes the order of anything. */
#include "tests/rules/rule_conv.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

#define ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM

struct own {
	cudnnTensorDescriptor_t in_t, out_t, row_t, column_t;
	float *in, *out, *d_out, *rows;
	cudaEvent_t done[SLOTS];
};

static void describe(cudnnTensorDescriptor_t *out, cudnnTensorFormat_t format, int c, int side)
{
	NEED(cudnnCreateTensorDescriptor(out));
	NEED(cudnnSetTensor4dDescriptor(*out, format, CUDNN_DATA_FLOAT, IMAGES, c, side, side));
}

static void init(struct own *own)
{
	const cudnnTensorFormat_t format = VARIANT == BAD ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;

	describe(&own->in_t, format, MAPS_IN, SIDE);
	describe(&own->out_t, format, MAPS_OUT, SIDE);
	describe(&own->row_t, CUDNN_TENSOR_NCHW, SIDE * SIDE * MAPS_OUT, 1);
	describe(&own->column_t, CUDNN_TENSOR_NHWC, SIDE * SIDE * MAPS_OUT, 1);
	own->in = rule_alloc(IN_FLOATS);
	own->out = rule_alloc(OUT_FLOATS);
	own->d_out = rule_alloc(OUT_FLOATS);
	own->rows = rule_alloc(OUT_FLOATS);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&own->done[i], cudaEventDisableTiming));
}

/* 128 KiB and 512 KiB are read and written, each by a kernel. */
static __attribute__((noinline)) void turn(struct rule_conv *r, cudnnTensorDescriptor_t from_t,
	const float *from, cudnnTensorDescriptor_t to_t, float *to)
{
	const float one = 1, zero = 0;

	/* expect: TFS606 x3 1152KiB stream 13 2.2..2.6ms */
	NEED(cudnnTransformTensor(r->dnn, &one, from_t, from, &zero, to_t, to));
}

static void step(struct rule_conv *r, struct own *own)
{
	const float one = 1, zero = 0, rate = -1e-5f;
	float *in = VARIANT == BAD ? own->in : r->in, *out = VARIANT == BAD ? own->out : r->out;
	float *d_out = VARIANT == BAD ? own->d_out : r->d_out;

	if (VARIANT == BAD)
		turn(r, r->in_t, r->in, own->in_t, in);
	NEED(cudnnConvolutionForward(r->dnn, &one, own->in_t, in, r->filter_t, r->filter, r->conv,
		ALGO, r->workspace, WORKSPACE, &zero, own->out_t, out));
	if (VARIANT == BAD)
		turn(r, own->out_t, out, r->out_t, r->out);
	NEED(cudnnSoftmaxForward(r->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one,
		r->out_t, r->out, &zero, r->out_t, r->d_out));
	if (VARIANT == BAD)
		turn(r, r->out_t, r->d_out, own->out_t, d_out);
	if (VARIANT == TRAP)
		NEED(cudnnTransformTensor(/* trap: TFS606 */ r->dnn, &one, own->row_t, r->out,
			&zero, own->column_t, own->rows));
	NEED(cudnnConvolutionBackwardFilter(r->dnn, &one, own->in_t, in, own->out_t, d_out, r->conv,
		CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, r->workspace, WORKSPACE, &zero, r->filter_t,
		r->d_filter));
	NEED(cublasSaxpy(r->blas, FILTER_FLOATS, &rate, r->d_filter, 1, r->filter, 1));
}

int main(void)
{
	struct rule_conv r;
	struct own own;

	rule_conv_init(&r);
	init(&own);
	for (unsigned i = 0; i < STEPS; i++) {
		NEED(cudaEventSynchronize(own.done[i % SLOTS]));
		step(&r, &own);
		NEED(cudaEventRecord(own.done[i % SLOTS], r.stream));
	}
	rule_tell(r.filter, FILTER_FLOATS);
	printf("all %016llx\n", (unsigned long long)rule_see(NULL, 0));
	return 0;
}
