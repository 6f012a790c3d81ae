/* SPDX-License-Identifier: MIT */
/* TFS610, no trap: the first answer is taken, where the second one needs no workspace either and is
 * faster: an eighth of 2.11 ms, which short sums for many results take. */
#define VARIANT FIRST_ANSWER
#include "tests/rules/610/rule_610_product.h"

static void multiply(const struct rule *r, const struct product *p)
{
	const float scale = 1e-3f, beta = 0;

	NEED(cublasLtMatmul(/* expect: TFS610 x1 stream 13 240..288us */
		p->lt, p->desc, &scale, p->a, p->a_layout, p->b, p->b_layout, &beta, p->c,
		p->c_layout, p->c, p->c_layout, &p->answer.algo, p->workspace,
		p->answer.workspaceSize, r->stream));
}

int main(void)
{
	product_train(multiply);
	return 0;
}
