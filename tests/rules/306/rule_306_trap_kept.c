/* SPDX-License-Identifier: MIT */
/* TFS306: probabilities that are read later have to be written still, or computed anew. */
#define KEPT 1
#include "tests/rules/rule_attention.h"

static void attention_scores(struct rule *r, struct attention *own)
{
	/* expect: TFS306 x1 12MiB stream 13 0..95ms */
	ATTENTION_SCORES(r, own);
}

int main(void)
{
	attention_train(attention_scores);
	return 0;
}
