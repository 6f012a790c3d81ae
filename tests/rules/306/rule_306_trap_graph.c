/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: the calls are in a graph. */
/* unmeasured: TFS306 */
#define GRAPH 1
#include "tests/rules/306/rule_306_bad.c"
