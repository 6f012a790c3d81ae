/* SPDX-License-Identifier: MIT */
/* TFS301: bias and activation behind a convolution, one pass over memory each. The clean twin has
 * them done by the convolution; the trap has softmax behind the bias, which is no elementwise
 * operation. */
#include "tests/rules/rule_conv.h"

#ifndef VARIANT
#define VARIANT BAD
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
	/* expect: TFS301 x1 2MiB stream 13 1.9..2.45ms */
	NEED(cudnnAddTensor(r->dnn, &one, r->bias_t, r->bias, &one, r->out_t, r->out));
	if (VARIANT == BAD)
		NEED(cudnnActivationForward(
			r->dnn, r->relu, &one, r->out_t, r->out, &zero, r->out_t, r->out));
	else
		NEED(cudnnSoftmaxForward(r->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
			&one, r->out_t, r->out, &zero, r->out_t, r->out));
}

int main(void)
{
	struct rule_conv r;
	cudaEvent_t done[SLOTS];

	rule_conv_init(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		if (VARIANT == CLEAN)
			forward_fused(&r);
		else
			forward(&r);
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
