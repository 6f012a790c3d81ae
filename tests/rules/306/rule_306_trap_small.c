/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: scores of 1 MiB stay in the cache, which has 4. */
#define HEADS 4
#include "tests/rules/306/rule_306_bad.c"
