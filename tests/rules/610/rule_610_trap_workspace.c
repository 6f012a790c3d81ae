/* SPDX-License-Identifier: MIT */
/* TFS610, no trap: a product whose sum is long, with a workspace for two parts of it, where one for
 * eight is faster. Twins have the larger one as the report advises (LARGE), gain nothing by it,
 * since the sum is short (SHORT), have no memory left to measure on (FULL), or capture the product
 * in a graph (CAPTURED). */
#ifndef VARIANT
#define VARIANT SMALL
#endif
#include "tests/rules/610/rule_610_product.h"

static void multiply(const struct rule *r, const struct product *p)
{
	const float scale = 1e-3f, beta = 0;

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
