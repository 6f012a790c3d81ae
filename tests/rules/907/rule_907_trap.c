/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/907/rule_907_bad.c"
