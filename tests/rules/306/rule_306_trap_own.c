/* SPDX-License-Identifier: MIT */
/* TFS306: what is between the products is a kernel of the program, a softmax for all that is seen.
 */
#define BETWEEN BY_SOFTEN
#include "tests/rules/rule_attention.h"

static void attention_scores(struct rule *r, struct attention *own)
{
	/* unsure: TFS306 x1 16MiB stream 13 0..18ms */
	ATTENTION_SCORES(r, own);
}

int main(void)
{
	attention_train(attention_scores);
	return 0;
}
