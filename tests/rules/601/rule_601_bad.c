/* SPDX-License-Identifier: MIT */
/* TFS601: a convolution whose algorithm was picked by hand, and not the fastest. The clean twin
 * tries a batch and searches before it trains; the trap's pick is the fastest. */
#include "tests/rules/rule_conv.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void convolve(struct rule_conv *r, cudnnConvolutionFwdAlgo_t algo)
{
	const float one = 1, zero = 0;

	/* expect: TFS601 x1 stream 13 5.35..6.85ms */
	NEED(cudnnConvolutionForward(r->dnn, &one, r->in_t, r->in, r->filter_t, r->filter, r->conv,
		algo, r->workspace, WORKSPACE, &zero, r->out_t, r->out));
}

static void try(struct rule_conv *r)
{
	const float one = 1, zero = 0;

	convolve(r, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
	NEED(cudnnConvolutionBackwardFilter(r->dnn, &one, r->in_t, r->in, r->out_t, r->out, r->conv,
		CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, r->workspace, WORKSPACE, &zero, r->filter_t,
		r->d_filter));
}

static cudnnConvolutionFwdAlgo_t pick(struct rule_conv *r)
{
	cudnnConvolutionFwdAlgoPerf_t found[16];
	int count = 0;

	if (VARIANT == BAD)
		return CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
	if (VARIANT == TRAP)
		return CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
	try(r);
	NEED(cudnnFindConvolutionForwardAlgorithmEx(r->dnn, r->in_t, r->in, r->filter_t, r->filter,
		r->conv, r->out_t, r->out, 16, &count, found, r->workspace, WORKSPACE));
	for (int i = 0; i < count; i++) {
		cudnnConvolutionFwdAlgo_t algo = found[i].algo;

		/* As the others: neither FFT nor Winograd. */
		if (!found[i].status &&
			(algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
				algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM ||
				algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM))
			return algo;
	}
	return CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

int main(void)
{
	cudnnConvolutionFwdAlgo_t algo;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	rule_conv_init(&r);
	algo = pick(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		convolve(&r, algo);
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
