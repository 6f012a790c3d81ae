/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel divides a row by its sum, in the time and with the arguments of
 * an elementwise one, and in place; but its threads share memory. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	exchange_train("soften", true, 256 * sizeof(float));
	return 0;
}
