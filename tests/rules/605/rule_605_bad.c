/* SPDX-License-Identifier: MIT */
/* TFS605: a bias is added to what a convolution gives, and batch normalisation takes it away again.
 * The clean twin has none, the trap adds it behind the normalisation, in its place. */
#include "tests/rules/rule_conv.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* In other traps something else reads the sum, or what is subtracted is no mean of it. */
#ifndef KEPT
#define KEPT 0
#endif
#ifndef FROZEN
#define FROZEN 0
#endif
/* Or there is no number for each channel, but for each column, of which there are as many. */
#ifndef ACROSS
#define ACROSS 0
#endif

#define ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
#define EPSILON (CUDNN_BN_MIN_EPSILON + 1e-5)

/* Of the normalisation: two of what it learns, their gradients, what it keeps. */
struct own {
	float *normal, *d_normal, *d_in;
	float *scale, *shift, *d_scale, *d_shift, *mean, *inverse;
	cudnnTensorDescriptor_t wide_t, column_t;
	cudaEvent_t done[SLOTS];
};

/* Of as many numbers in columns. */
static cudnnTensorDescriptor_t wide(int n, int c, int rows)
{
	cudnnTensorDescriptor_t tensor;

	NEED(cudnnCreateTensorDescriptor(&tensor));
	NEED(cudnnSetTensor4dDescriptor(
		tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, rows, MAPS_OUT));
	return tensor;
}

static void init(struct rule_conv *r, struct own *own)
{
	float ones[MAPS_OUT], bias[MAPS_OUT];

	own->wide_t = wide(IMAGES, MAPS_OUT, SIDE * SIDE / MAPS_OUT);
	own->column_t = wide(1, 1, 1);
	own->normal = rule_alloc(OUT_FLOATS);
	own->d_normal = rule_alloc(OUT_FLOATS);
	own->d_in = rule_alloc(OUT_FLOATS);
	own->scale = rule_alloc(MAPS_OUT);
	own->shift = rule_alloc(MAPS_OUT);
	own->d_scale = rule_alloc(MAPS_OUT);
	own->d_shift = rule_alloc(MAPS_OUT);
	own->mean = rule_alloc(MAPS_OUT);
	own->inverse = rule_alloc(MAPS_OUT);
	for (int i = 0; i < MAPS_OUT; i++)
		ones[i] = 1;
	rule_fill(bias, MAPS_OUT, 1e-2f);
	NEED(cudaMemcpy(own->scale, ones, sizeof(ones), cudaMemcpyHostToDevice));
	NEED(cudaMemcpy(r->bias, bias, sizeof(bias), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&own->done[i], cudaEventDisableTiming));
}

static void normalise(struct rule_conv *r, struct own *own)
{
	const float one = 1, zero = 0;

	if (FROZEN) {
		NEED(cudnnBatchNormalizationForwardInference(r->dnn, CUDNN_BATCHNORM_SPATIAL, &one,
			&zero, r->out_t, r->out, r->out_t, own->normal, r->bias_t, own->scale,
			own->shift, own->mean, own->inverse, EPSILON));
		return;
	}
	NEED(cudnnBatchNormalizationForwardTraining(r->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero,
		r->out_t, r->out, r->out_t, own->normal, r->bias_t, own->scale, own->shift, 0, NULL,
		NULL, EPSILON, own->mean, own->inverse));
	/* What skips the normalisation has the bias. */
	if (KEPT)
		NEED(cublasSaxpy(r->blas, OUT_FLOATS, &one, r->out, 1, own->normal, 1));
}

static void forward(struct rule_conv *r, struct own *own)
{
	const float one = 1, zero = 0;

	NEED(cudnnConvolutionForward(r->dnn, &one, r->in_t, r->in, r->filter_t, r->filter, r->conv,
		ALGO, r->workspace, WORKSPACE, &zero, r->out_t, r->out));
	if (ACROSS)
		NEED(cudnnAddTensor(
			r->dnn, &one, own->column_t, r->bias, &one, own->wide_t, r->out));
	else if (VARIANT == BAD)
		/* 512 KiB are read and written, in 1.09 ms, and once more read for the gradient, in
		 * 0.56. */
		/* expect: TFS605 x1 512KiB stream 13 1.5..1.8ms */
		NEED(cudnnAddTensor(r->dnn, &one, r->bias_t, r->bias, &one, r->out_t, r->out));
	normalise(r, own);
	if (VARIANT == TRAP)
		NEED(cudnnAddTensor(/* trap: TFS605 */ r->dnn, &one, r->bias_t, r->bias, &one,
			r->out_t, own->normal));
	NEED(cudnnSoftmaxForward(r->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one,
		r->out_t, own->normal, &zero, r->out_t, own->d_normal));
}

/* Outputs are to become 0, so that they are their own gradients. */
static void learn(struct rule_conv *r, struct own *own)
{
	const float one = 1, zero = 0, rate = -1e-5f;

	NEED(cudnnBatchNormalizationBackward(r->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one,
		&zero, r->out_t, r->out, r->out_t, own->d_normal, r->out_t, own->d_in, r->bias_t,
		own->scale, own->d_scale, own->d_shift, EPSILON, own->mean, own->inverse));
	if (VARIANT != CLEAN)
		NEED(cudnnConvolutionBackwardBias(r->dnn, &one, r->out_t,
			VARIANT == BAD ? own->d_in : own->d_normal, &zero, r->bias_t, r->d_bias));
	NEED(cudnnConvolutionBackwardFilter(r->dnn, &one, r->in_t, r->in, r->out_t, own->d_in,
		r->conv, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, r->workspace, WORKSPACE, &zero,
		r->filter_t, r->d_filter));
	NEED(cublasSaxpy(r->blas, MAPS_OUT, &rate, own->d_scale, 1, own->scale, 1));
	NEED(cublasSaxpy(r->blas, MAPS_OUT, &rate, own->d_shift, 1, own->shift, 1));
	if (VARIANT != CLEAN)
		NEED(cublasSaxpy(r->blas, MAPS_OUT, &rate, r->d_bias, 1, r->bias, 1));
	NEED(cublasSaxpy(r->blas, FILTER_FLOATS, &rate, r->d_filter, 1, r->filter, 1));
}

int main(void)
{
	struct rule_conv r;
	struct own own;

	rule_conv_init(&r);
	init(&r, &own);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(own.done[step % SLOTS]));
		forward(&r, &own);
		learn(&r, &own);
		NEED(cudaEventRecord(own.done[step % SLOTS], r.stream));
	}
	rule_tell(own.shift, MAPS_OUT);
	rule_tell(r.filter, FILTER_FLOATS);
	printf("all %016llx\n", (unsigned long long)rule_see(NULL, 0));
	return 0;
}
