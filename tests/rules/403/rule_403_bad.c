/* SPDX-License-Identifier: MIT */
/* TFS403: a batch so small that no kernel has a block for each multiprocessor, in a memory that is
 * nearly empty. The clean twin's kernels fill the device; the trap has small kernels as well, and
 * no memory left for larger ones. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { EDGE = 16, ROWS = VARIANT == CLEAN ? 8192 : EDGE, PRODUCTS = 12 };

int main(void)
{
	const float one = 1, zero = 0, rate = -0.01f;
	cudaEvent_t done[SLOTS];
	float *weight, *input, *output;
	struct rule r;

	rule_init(&r);
	weight = rule_alloc(EDGE * EDGE);
	input = rule_alloc((size_t)ROWS * EDGE);
	output = rule_alloc((size_t)ROWS * EDGE);
	if (VARIANT == TRAP)
		rule_take(70);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		for (int i = 0; i < PRODUCTS; i++)
			NEED(cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, EDGE, ROWS, EDGE, &one,
				weight, EDGE, input, EDGE, &zero, output, EDGE));
		NEED(cublasSaxpy(r.blas, EDGE * EDGE, &rate, output, 1, weight, 1));
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
	return 0;
}
