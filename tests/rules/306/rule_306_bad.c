/* SPDX-License-Identifier: MIT */
/* TFS306: attention in three calls, which pass the scores through memory. The clean twin does all
 * in one kernel; the trap has a ReLU between the same products, as experts have. */
#include "tests/rules/rule_attention.h"

static void attention_scores(struct rule *r, struct attention *own)
{
	/* 4 MiB are read and written in 8.4 ms of the softmax's, and as many by the products, which
	 * compute meanwhile. The other 76 ms of the softmax, on the device simulated, are for what
	 * a kernel of the program need not compute so exactly. */
	/* expect: TFS306 x1 16MiB stream 13 5..94ms */
	ATTENTION_SCORES(r, own);
}

int main(void)
{
	attention_train(attention_scores);
	return 0;
}
