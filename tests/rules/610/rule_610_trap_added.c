/* SPDX-License-Identifier: MIT */
/* TFS610, no trap: the same product adds to what its result holds, in place. */
#define VARIANT ADDED
#include "tests/rules/610/rule_610_product.h"

static void multiply(const struct rule *r, const struct product *p)
{
	const float scale = 1e-3f, beta = 0.5f;

	NEED(cublasLtMatmul(/* expect: TFS610 x1 stream 13 87..107us */
		p->lt, p->desc, &scale, p->a, p->a_layout, p->b, p->b_layout, &beta, p->c,
		p->c_layout, p->c, p->c_layout, &p->answer.algo, p->workspace,
		p->answer.workspaceSize, r->stream));
}

int main(void)
{
	product_train(multiply);
	return 0;
}
