/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel adds up all values. It takes less time than to write as many.
 */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	exchange_train("total", false, 0);
	return 0;
}
