/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/602/rule_602_bad.c"
