/* SPDX-License-Identifier: MIT */
/* TFS409: each step asks for more than there is, frees what it had kept, and asks again, as a
 * caching allocator does. The clean twin leaves as much memory free as it needs; the trap asks for
 * more than there is and makes do with less, which frees nothing. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { KEPT = 14 << 20, WANTED = 12 << 20, LEFT = 6 << 20 };

/* All but so much of the memory is taken, in one piece or in smaller ones. */
static void take_all_but(size_t left)
{
	size_t piece = (size_t)1 << 40, there = 0, total = 0;
	void *taken;

	for (; piece >= 1 << 20; piece /= 2)
		while (cudaMemGetInfo(&there, &total) == cudaSuccess && there > left + piece &&
			cudaMalloc(&taken, piece) == cudaSuccess)
			continue;
	(void)cudaGetLastError();
}

static void *allocate(size_t bytes)
{
	void *memory = NULL;

	NEED(cudaMalloc(&memory, bytes));
	return memory;
}

int main(void)
{
	void *kept = NULL, *wanted = NULL, *less = NULL;
	struct rule r;

	rule_init(&r);
	if (VARIANT == TRAP)
		less = allocate(LEFT / 2);
	kept = allocate(KEPT);
	take_all_but(VARIANT == CLEAN ? 2 * WANTED : LEFT);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		/* expect: TFS409 x1 12MiB 11.5..13.5ms */
		if (cudaMalloc(&wanted, WANTED) != cudaSuccess) {
			(void)cudaGetLastError();
			if (VARIANT == BAD) {
				NEED(cudaFree(kept));
				kept = NULL;
				wanted = allocate(WANTED);
			}
		}
		rule_backward(&r, step, 0);
		NEED(cublasScopy(r.blas, WEIGHTS, r.grad, 1, wanted ? wanted : less, 1));
		rule_update(&r);
		if (wanted)
			NEED(cudaFree(wanted));
		wanted = NULL;
		if (!kept)
			kept = allocate(KEPT);
	}
	rule_finish(&r);
	return 0;
}
