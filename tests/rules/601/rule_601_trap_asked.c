/* SPDX-License-Identifier: MIT */
/* TFS601, a trap: a variable asks for the same bits in each run, and no search is made that might
 * say that this slow choice is one. */
/* unmeasured: TFS601 */
#include "tests/rules/rule_conv.h"

int main(void)
{
	const float one = 1, zero = 0;
	cudaEvent_t done[SLOTS];
	struct rule_conv r;

	if (setenv("CUDNN_DETERMINISTIC", "1", 1))
		return 1;
	rule_conv_init(&r);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		NEED(cudnnConvolutionForward(/* trap: TFS601 */ r.dnn, &one, r.in_t, r.in,
			r.filter_t, r.filter, r.conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
			r.workspace, WORKSPACE, &zero, r.out_t, r.out));
		rule_conv_learn(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_conv_finish(&r);
	return 0;
}
