/* SPDX-License-Identifier: MIT */
/* TFS306: a kernel of the program makes shares of the scores, and writes them as halves. */
#define BETWEEN BY_HALVES
#include "tests/rules/rule_attention.h"

static void attention_scores(struct rule *r, struct attention *own)
{
	/* unsure: TFS306 x1 12MiB stream 13 0..18ms */
	ATTENTION_SCORES(r, own);
}

int main(void)
{
	attention_train(attention_scores);
	return 0;
}
