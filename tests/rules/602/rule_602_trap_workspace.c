/* SPDX-License-Identifier: MIT */
/* TFS602: the workspace's size is asked for in each step. That it is for the same shape each time
 * is not recorded. */
#define VARIANT TRAP
#include "tests/rules/rule_conv.h"

int main(void)
{
	const float one = 1, zero = 0;
	const cudnnConvolutionFwdAlgo_t algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;
	size_t bytes;

	rule_conv_init(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		/* unsure: TFS602 x1 0us */
		NEED(cudnnGetConvolutionForwardWorkspaceSize(
			r.dnn, r.in_t, r.filter_t, r.conv, r.out_t, algo, &bytes));
		NEED(cudnnConvolutionForward(r.dnn, &one, r.in_t, r.in, r.filter_t, r.filter,
			r.conv, algo, r.workspace, WORKSPACE, &zero, r.out_t, r.out));
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
