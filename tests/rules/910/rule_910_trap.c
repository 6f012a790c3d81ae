/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/910/rule_910_bad.c"
