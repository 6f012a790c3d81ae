/* SPDX-License-Identifier: MIT */
/* TFS601, a trap: the same gradient is computed by an algorithm that may differ from run to run,
 * and slowly, and by the fastest of those that do not. A still faster one varies, too: it may take
 * the first one's place, not the second one's. */
#include "tests/rules/rule_conv.h"

static void filter_gradient(struct rule_conv *r, cudnnConvolutionBwdFilterAlgo_t algo)
{
	const float one = 1, zero = 0;

	if (algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0)
		/* expect: TFS601 x1 stream 13 5.7..7.3ms */
		NEED(cudnnConvolutionBackwardFilter(r->dnn, &one, r->in_t, r->in, r->out_t,
			r->d_out, r->conv, algo, r->workspace, WORKSPACE, &zero, r->filter_t,
			r->d_filter));
	else
		NEED(cudnnConvolutionBackwardFilter(/* trap: TFS601 */ r->dnn, &one, r->in_t, r->in,
			r->out_t, r->d_out, r->conv, algo, r->workspace, WORKSPACE, &zero,
			r->filter_t, r->d_filter));
}

int main(void)
{
	const float one = 1, zero = 0, rate = -1e-5f;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	rule_conv_init(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		NEED(cudnnConvolutionForward(r.dnn, &one, r.in_t, r.in, r.filter_t, r.filter,
			r.conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, r.workspace,
			WORKSPACE, &zero, r.out_t, r.d_out));
		filter_gradient(&r, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0);
		NEED(cublasSaxpy(r.blas, FILTER_FLOATS, &rate, r.d_filter, 1, r.filter, 1));
		filter_gradient(&r, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
		NEED(cublasSaxpy(r.blas, FILTER_FLOATS, &rate, r.d_filter, 1, r.filter, 1));
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
