/* SPDX-License-Identifier: MIT */
/* TFS601, a trap: of two convolutions of different shapes the first has an algorithm that the
 * program searched, the other one that was picked by hand, and not the fastest. */
#include "tests/rules/rule_conv.h"

#ifndef WARM
#define WARM 1 /* The other one runs once before the search. */
#endif

struct half {
	cudnnTensorDescriptor_t in, out;
	cudnnConvolutionFwdAlgo_t algo;
};

static void search(struct rule_conv *r, struct half *half)
{
	cudnnConvolutionFwdAlgoPerf_t found[16];
	int count = 0;

	NEED(cudnnFindConvolutionForwardAlgorithmEx(r->dnn, half->in, r->in, r->filter_t, r->filter,
		r->conv, half->out, r->d_out, 16, &count, found, r->workspace, WORKSPACE));
	half->algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
	for (int i = count - 1; i >= 0; i--) {
		cudnnConvolutionFwdAlgo_t algo = found[i].algo;

		/* Neither FFT nor Winograd. */
		if (!found[i].status &&
			(algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
				algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM ||
				algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM))
			half->algo = algo;
	}
}

static void convolve(struct rule_conv *r)
{
	const float one = 1, zero = 0;

	/* expect: TFS601 x1 stream 13 5.35..6.85ms */
	NEED(cudnnConvolutionForward(r->dnn, &one, r->in_t, r->in, r->filter_t, r->filter, r->conv,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, r->workspace, WORKSPACE, &zero, r->out_t,
		r->out));
}

int main(void)
{
	const float one = 1, zero = 0;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;
	struct half half;

	rule_conv_init(&r);
	rule_tensor(&half.in, IMAGES / 2, MAPS_IN, SIDE);
	rule_tensor(&half.out, IMAGES / 2, MAPS_OUT, SIDE);
	if (WARM)
		convolve(&r);
	search(&r, &half);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		NEED(cudnnConvolutionForward(/* trap: TFS601 */ r.dnn, &one, half.in, r.in,
			r.filter_t, r.filter, r.conv, half.algo, r.workspace, WORKSPACE, &zero,
			half.out, r.d_out));
		convolve(&r);
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
