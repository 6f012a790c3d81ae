/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/606/rule_606_bad.c"
