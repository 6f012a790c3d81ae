/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: the second product sums along the columns, where rows are shares. */
#define TURNED 1
#include "tests/rules/306/rule_306_bad.c"
