/* SPDX-License-Identifier: MIT */
/* TFS602: each step asks for the convolution's algorithm by measuring all of them, and takes the
 * first that has the right kind. The clean twin searches once; the trap searches seldom, and asks
 * in each step for a shape that it has not had. */
#include "tests/rules/rule_conv.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static cudnnConvolutionFwdAlgo_t search(struct rule_conv *r)
{
	cudnnConvolutionFwdAlgoPerf_t found[16];
	int count = 0;

	/* All of them run: without that a step takes 44.6 ms less. */
	/* expect: TFS602 x1 stream 13 40..49.1ms */
	NEED(cudnnFindConvolutionForwardAlgorithm(
		r->dnn, r->in_t, r->filter_t, r->conv, r->out_t, 16, &count, found));
	for (int i = 0; i < count; i++)
		if (!found[i].status &&
			found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
			return found[i].algo;
	return CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

/* As many images as in no other step. */
static void ask(struct rule_conv *r, unsigned step)
{
	cudnnTensorDescriptor_t in_t = r->in_t, out_t = r->out_t;
	cudnnConvolutionFwdAlgoPerf_t found[16];
	int count = 0;

	NEED(cudnnSetTensor4dDescriptor(in_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
		(int)step + IMAGES + 1, MAPS_IN, SIDE, SIDE));
	NEED(cudnnSetTensor4dDescriptor(out_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
		(int)step + IMAGES + 1, MAPS_OUT, SIDE, SIDE));
	NEED(cudnnGetConvolutionForwardAlgorithm_v7(
		r->dnn, in_t, r->filter_t, r->conv, out_t, 16, &count, found));
	NEED(cudnnSetTensor4dDescriptor(
		in_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, IMAGES, MAPS_IN, SIDE, SIDE));
	NEED(cudnnSetTensor4dDescriptor(
		out_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, IMAGES, MAPS_OUT, SIDE, SIDE));
}

int main(void)
{
	const float one = 1, zero = 0;
	cudnnConvolutionFwdAlgo_t algo;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	rule_conv_init(&r);
	algo = search(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		if (VARIANT == TRAP)
			ask(&r, step);
		if (VARIANT == BAD || (VARIANT == TRAP && step % 15 == 14))
			algo = search(&r);
		NEED(cudnnConvolutionForward(r.dnn, &one, r.in_t, r.in, r.filter_t, r.filter,
			r.conv, algo, r.workspace, WORKSPACE, &zero, r.out_t, r.out));
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
