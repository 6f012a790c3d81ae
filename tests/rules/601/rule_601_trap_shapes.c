/* SPDX-License-Identifier: MIT */
/* TFS601, a trap: one call makes ten convolutions by turns, each of a shape of its own and with an
 * algorithm picked by hand. None of them is called often enough for a search to pay. */
#include "tests/rules/rule_conv.h"

enum { SHAPES = 10 };

int main(void)
{
	const float one = 1, zero = 0;
	cudnnTensorDescriptor_t in[SHAPES], out[SHAPES];
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	rule_conv_init(&r);
	for (int i = 0; i < SHAPES; i++) {
		rule_tensor(&in[i], i + 1, MAPS_IN, SIDE);
		rule_tensor(&out[i], i + 1, MAPS_OUT, SIDE);
	}
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned shape = step % SHAPES;

		NEED(cudaEventSynchronize(done[step % SLOTS]));
		NEED(cudnnConvolutionForward(/* trap: TFS601 */ r.dnn, &one, in[shape], r.in,
			r.filter_t, r.filter, r.conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
			r.workspace, WORKSPACE, &zero, out[shape], r.out));
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
