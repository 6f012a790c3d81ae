/* SPDX-License-Identifier: MIT */
/* TFS204, a trap: the stream that computes was created non-blocking. */
#define APART 1
#include "tests/rules/204/rule_204_bad.c"
