/* SPDX-License-Identifier: MIT */
/* TFS601, a trap: two convolutions of one shape, both with the fastest algorithm. One may convert
 * its numbers and is the faster for it; the other one's default math, which allows TF32, is no
 * issue. */
#include "tests/rules/rule_conv.h"

#define ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM

int main(void)
{
	const float one = 1, zero = 0;
	cudnnConvolutionDescriptor_t converting;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	rule_conv_init(&r);
	NEED(cudnnCreateConvolutionDescriptor(&converting));
	NEED(cudnnSetConvolution2dDescriptor(
		converting, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	NEED(cudnnSetConvolutionMathType(converting, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION));
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		NEED(cudnnConvolutionForward(r.dnn, &one, r.in_t, r.in, r.filter_t, r.filter,
			converting, ALGO, r.workspace, WORKSPACE, &zero, r.out_t, r.out));
		NEED(cudnnConvolutionForward(/* trap: TFS601 */ r.dnn, &one, r.in_t, r.in,
			r.filter_t, r.filter, r.conv, ALGO, r.workspace, WORKSPACE, &zero, r.out_t,
			r.out));
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	NEED(cudnnDestroyConvolutionDescriptor(converting));
	rule_conv_finish(&r);
	return 0;
}
