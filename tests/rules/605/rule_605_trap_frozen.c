/* SPDX-License-Identifier: MIT */
/* TFS605, a trap: the normalisation subtracts a mean that was kept, and not the bias. */
#define VARIANT BAD
#define FROZEN 1
#include "tests/rules/605/rule_605_bad.c"
