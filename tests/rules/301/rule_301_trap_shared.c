/* SPDX-License-Identifier: MIT */
/* TFS301, a trap: the second kernel divides a row by its sum, in the time and with the arguments of
 * an elementwise one, and in place; its threads share memory that the kernel itself declares. */
#include "tests/rules/rule_exchange.h"

int main(void)
{
	exchange_train("soften_fixed", true, 0);
	return 0;
}
