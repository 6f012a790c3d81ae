/* SPDX-License-Identifier: MIT */
/* TFS301: bias and ReLU behind a convolution, and nothing else that is elementwise. One kernel for
 * both saves a pass over the memory, the convolution's own call for all three saves both. */
#include "tests/rules/rule_conv.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

#define ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM

static void forward_fused(struct rule_conv *r)
{
	const float one = 1, zero = 0;

	NEED(cudnnConvolutionBiasActivationForward(r->dnn, &one, r->in_t, r->in, r->filter_t,
		r->filter, r->conv, ALGO, r->workspace, WORKSPACE, &zero, r->out_t, r->out,
		r->bias_t, r->bias, r->relu, r->out_t, r->out));
}

static void forward(struct rule_conv *r)
{
	const float one = 1, zero = 0;

	NEED(cudnnConvolutionForward(r->dnn, &one, r->in_t, r->in, r->filter_t, r->filter, r->conv,
		ALGO, r->workspace, WORKSPACE, &zero, r->out_t, r->out));
	/* less: TFS301 x1 1MiB stream 13 1..2.3ms */
	NEED(cudnnAddTensor(r->dnn, &one, r->bias_t, r->bias, &one, r->out_t, r->out));
	if (VARIANT != WRONG)
		NEED(cudnnActivationForward(
			r->dnn, r->relu, &one, r->out_t, r->out, &zero, r->out_t, r->out));
}

/* Outputs are their own gradients, and where ReLU gave 0 they are 0. */
static void learn(struct rule_conv *r)
{
	const float one = 1, zero = 0, rate = -1e-5f;

	NEED(cudnnConvolutionBackwardBias(
		r->dnn, &one, r->out_t, r->out, &zero, r->bias_t, r->d_bias));
	NEED(cudnnConvolutionBackwardFilter(r->dnn, &one, r->in_t, r->in, r->out_t, r->out, r->conv,
		CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, r->workspace, WORKSPACE, &zero, r->filter_t,
		r->d_filter));
	NEED(cublasSaxpy(r->blas, MAPS_OUT, &rate, r->d_bias, 1, r->bias, 1));
	NEED(cublasSaxpy(r->blas, FILTER_FLOATS, &rate, r->d_filter, 1, r->filter, 1));
}

int main(void)
{
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	rule_conv_init(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		if (VARIANT == ADVICE)
			forward_fused(&r);
		else
			forward(&r);
		learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
