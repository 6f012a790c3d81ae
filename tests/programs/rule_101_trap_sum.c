/* SPDX-License-Identifier: MIT */
/* TFS101, a counterexample: each copy from pageable memory is small enough to return early, and
 * together they are more than 1 MB in each step. */
#include "tests/programs/rule_step.h"

enum { PIECE = 32 << 10, PIECES = 40 };

int main(void)
{
	char *pieces = malloc(PIECE);
	char *target = NULL;
	struct rule r;

	if (!pieces)
		return 1;
	memset(pieces, 0, PIECE);
	rule_init(&r);
	NEED(cudaMalloc((void **)&target, PIECE));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		for (int i = 0; i < PIECES; i++)
			/* Each piece takes 139 us, or pinned 56, which may be beside the computing.
			 * That 30 of them are not for its bytes nothing here can tell. */
			/* expect: TFS101 x40 1280KiB stream 13 3.3..6.3ms */
			NEED(cudaMemcpyAsync(
				target, pieces, PIECE, cudaMemcpyHostToDevice, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	NEED(cudaFree(target));
	free(pieces);
	return 0;
}
