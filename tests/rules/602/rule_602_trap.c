/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/602/rule_602_bad.c"
