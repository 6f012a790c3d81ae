/* SPDX-License-Identifier: MIT */
/* TFS303: each of 16 parts of the weights is updated by a call of its own. The clean twin updates
 * them with one; the trap has six parts, and a call that changes 16 parts of the outputs, which are
 * no parameters. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { PARTS = VARIANT == BAD ? 16 : VARIANT == CLEAN ? 1 : 6, PART = WEIGHTS / PARTS };

static void update(struct rule *r)
{
	const float rate = -0.01f;

	for (int i = 0; i < PARTS; i++) {
		const int count = i == PARTS - 1 ? WEIGHTS - i * PART : PART;

		/* Each takes 40 us and its bytes; all at once take 40 us once. */
		/* expect: TFS303 x16 stream 13 540..660us */
		NEED(cublasSaxpy(
			r->blas, count, &rate, r->grad + i * PART, 1, r->weight + i * PART, 1));
	}
}

static void shrink(struct rule *r)
{
	const float most = 0.999f;

	for (int i = 0; i < 16; i++)
		NEED(cublasSscal(r->blas, OUTPUTS * BATCH / 16, &most,
			r->output + i * OUTPUTS * BATCH / 16, 1));
}

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		if (VARIANT == TRAP)
			shrink(&r);
		rule_backward(&r, step, 0);
		update(&r);
	}
	rule_finish(&r);
	return 0;
}
