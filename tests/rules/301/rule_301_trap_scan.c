/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel has the sums of what comes before in a row, in the time and
 * with the arguments of an elementwise one. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	exchange_train("row_sums", false, 0); /* unmeasured: TFS301 */
	return 0;
}
