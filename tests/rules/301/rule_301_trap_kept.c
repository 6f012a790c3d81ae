/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the values between bias and activation are read once more by the backward pass.
 * They must be written anyway: one pass saves a launch and their reading only. */
#include "tests/rules/rule_conv.h"

#define ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM

static void forward(struct rule_conv *r, float *before)
{
	const float one = 1, zero = 0;

	NEED(cudnnConvolutionForward(r->dnn, &one, r->in_t, r->in, r->filter_t, r->filter, r->conv,
		ALGO, r->workspace, WORKSPACE, &zero, r->out_t, before));
	/* less: TFS301 x1 1536KiB stream 13 1.45..1.86ms */
	NEED(cudnnAddTensor(r->dnn, &one, r->bias_t, r->bias, &one, r->out_t, before));
	NEED(cudnnActivationForward(
		r->dnn, r->relu, &one, r->out_t, before, &zero, r->out_t, r->out));
}

int main(void)
{
	cudaEvent_t done[SLOTS];
	struct rule_conv r;
	float *before;

	rule_conv_init(&r);
	before = rule_alloc(OUT_FLOATS);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		forward(&r, before);
		rule_conv_learn_from(&r, before);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
