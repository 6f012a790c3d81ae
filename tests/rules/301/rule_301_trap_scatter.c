/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel writes each value elsewhere. It takes longer than its bytes do.
 */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	exchange_train("scatter", false, 0);
	return 0;
}
