/* SPDX-License-Identifier: MIT */
/* TFS105, a trap: what is copied to the last rows of a matrix is overwritten in part by a copy of
 * columns, which have room between them. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { ROWS = 256, COLUMNS = 512, TAIL = ROWS / 4 * COLUMNS, WIDTH = 16 };

static void clear_columns(const struct rule *r, float *matrix, const float *zeros)
{
	NEED(cudaMemcpy2DAsync(matrix, COLUMNS * sizeof(float), zeros, WIDTH * sizeof(float),
		WIDTH * sizeof(float), ROWS, cudaMemcpyDeviceToDevice, r->stream));
}

int main(void)
{
	float *host, *matrix, *tail, *zeros;
	const float pull = 1e-4f;
	struct rule r;

	rule_init(&r);
	matrix = rule_alloc(ROWS * COLUMNS);
	tail = matrix + ROWS * COLUMNS - TAIL;
	zeros = rule_alloc(ROWS * WIDTH);
	NEED(cudaMallocHost((void **)&host, TAIL * sizeof(float)));
	rule_fill(host, TAIL, 1e-4f);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemcpyAsync(
			tail, host, TAIL * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		NEED(cublasSaxpy(r.blas, TAIL, &pull, tail, 1, r.weight, 1));
		clear_columns(&r, matrix, zeros);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
