/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: two products in turn, whose second one gives more than the first one takes. */
#define BETWEEN BY_SOFTEN
#define VALUES 32
#include "tests/rules/306/rule_306_bad.c"
