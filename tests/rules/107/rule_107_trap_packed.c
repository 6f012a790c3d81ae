/* SPDX-License-Identifier: MIT */
/* TFS107: columns of a matrix are copied to lie one behind the other: what reads them so cannot
 * read the matrix instead. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { ROWS = 512, COLUMNS = 256, WIDTH = WEIGHTS / ROWS };

int main(void)
{
	const float pull = 1e-4f;
	float *host, *matrix, *packed;
	struct rule r;

	rule_init(&r);
	host = malloc(ROWS * COLUMNS * sizeof(*host));
	if (!host)
		return 1;
	matrix = rule_alloc(ROWS * COLUMNS);
	packed = rule_alloc(WEIGHTS);
	rule_fill(host, ROWS * COLUMNS, 1e-4f);
	NEED(cudaMemcpy(matrix, host, ROWS * COLUMNS * sizeof(float), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		/* unsure: TFS107 x1 256KiB stream 13 0..600us */
		NEED(cudaMemcpy2DAsync(packed, WIDTH * sizeof(float), matrix,
			COLUMNS * sizeof(float), WIDTH * sizeof(float), ROWS,
			cudaMemcpyDeviceToDevice, r.stream));
		NEED(cublasSaxpy(r.blas, WEIGHTS, &pull, packed, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	free(host);
	rule_finish(&r);
	return 0;
}
