/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: the matrices of the first product are in lists. */
/* unmeasured: TFS306 */
#define LISTS 1
#include "tests/rules/306/rule_306_bad.c"
