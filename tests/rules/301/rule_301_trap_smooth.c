/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel takes the mean of neighbours, in the time and with the
 * arguments of an elementwise one. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	exchange_train("smooth", false, 0); /* unmeasured: TFS301 */
	return 0;
}
