/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: what is between the products works on each element by itself. */
#define BETWEEN BY_HALVE
#include "tests/rules/306/rule_306_bad.c"
