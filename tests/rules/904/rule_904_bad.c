/* SPDX-License-Identifier: MIT */
/* TFS904: part of each step's work is done by calls that no hook sees: the function was found in
 * its library's table. The trap makes the same calls before it trains, where nothing is judged; as
 * advised, the library is linked. */
#include "tests/rules/rule_step.h"
#include "tests/tools/unseen_symbol.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void swap_often(struct rule *r, float *other)
{
	__typeof__(&cublasSswap) swap = cublasSswap;

	if (VARIANT != ADVICE)
		swap = (__typeof__(swap))unseen_symbol("libcublas.so.13", "cublasSswap_v2");
	NEED(!swap);
	for (int i = 0; i < 3; i++)
		NEED(swap(r->blas, OUTPUTS * BATCH, r->output, 1, other, 1));
}

int main(void)
{
	float *other;
	struct rule r;

	rule_init(&r);
	other = rule_alloc(OUTPUTS * BATCH);
	if (VARIANT == TRAP)
		swap_often(&r, other);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT == BAD || VARIANT == ADVICE)
			swap_often(&r, other);
	}
	rule_finish(&r);
	NEED(cudaFree(other));
	return 0;
}
