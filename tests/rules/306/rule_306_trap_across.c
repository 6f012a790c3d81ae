/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: probabilities are shares of a column, which the second product does not sum. */
#define ACROSS 1
#include "tests/rules/306/rule_306_bad.c"
