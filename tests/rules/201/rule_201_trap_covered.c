/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: work of a second stream keeps the device busy while the host waits for the first
 * one, and long after. The wait costs nothing. */
#include "tests/rules/rule_step.h"

int main(void)
{
	cublasHandle_t blas;
	cudaStream_t other;
	float *output;
	struct rule r;

	rule_init(&r);
	output = rule_alloc(OUTPUTS * BATCH);
	NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	NEED(cublasCreate(&blas));
	NEED(cublasSetStream(blas, other));
	for (unsigned step = 0; step < STEPS; step++) {
		const float one = 1, zero = 0;

		rule_upload(&r, step);
		rule_update(&r);
		for (int i = 0; i < 3; i++)
			NEED(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, OUTPUTS, BATCH, INPUTS,
				&one, r.weight, INPUTS, r.weight, INPUTS, &zero, output, OUTPUTS));
		NEED(cudaStreamSynchronize(r.stream)); /* trap: TFS201 */
	}
	rule_finish(&r);
	NEED(cublasDestroy(blas));
	return 0;
}
