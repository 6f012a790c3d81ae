/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: there are fewer queries than keys, and a kernel of the program is between the
 * products: whether it is a softmax is not seen. */
/* unmeasured: TFS306 */
#define BETWEEN BY_SOFTEN
#define QUERIES 128
#define HEADS 32
#include "tests/rules/rule_attention.h"

static void attention_scores(struct rule *r, struct attention *own)
{
	ATTENTION_SCORES(r, own);
}

int main(void)
{
	attention_train(attention_scores);
	return 0;
}
