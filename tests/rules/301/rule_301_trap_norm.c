/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: behind the bias comes a normalisation, which needs sums over all of it first. */
#include "tests/rules/rule_conv.h"

#define ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM

static void forward(struct rule_conv *r, float *normal, float *scale, float *mean)
{
	const float one = 1, zero = 0;

	NEED(cudnnConvolutionForward(r->dnn, &one, r->in_t, r->in, r->filter_t, r->filter, r->conv,
		ALGO, r->workspace, WORKSPACE, &zero, r->out_t, r->out));
	/* expect: TFS605 x1 512KiB stream 13 1.0..1.2ms */
	NEED(cudnnAddTensor(r->dnn, &one, r->bias_t, r->bias, &one, r->out_t, r->out));
	NEED(cudnnBatchNormalizationForwardTraining(r->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero,
		r->out_t, r->out, r->out_t, normal, r->bias_t, scale, scale, 0, NULL, NULL,
		CUDNN_BN_MIN_EPSILON + 1e-5, mean, mean + MAPS_OUT));
}

int main(void)
{
	const float one = 1, zero = 0;
	struct rule_conv r;
	cudaEvent_t done[SLOTS];
	float *normal, *scale, *mean;

	rule_conv_init(&r);
	normal = rule_alloc(OUT_FLOATS);
	scale = rule_alloc(MAPS_OUT);
	mean = rule_alloc(2 * MAPS_OUT);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		forward(&r, normal, scale, mean);
		NEED(cudnnSoftmaxForward(r.dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
			&one, r.out_t, normal, &zero, r.out_t, r.out));
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
