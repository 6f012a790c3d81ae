/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: the second product takes logarithms of probabilities. */
#define LOGARITHM 1
#include "tests/rules/306/rule_306_bad.c"
