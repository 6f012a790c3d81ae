/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/606/rule_606_bad.c"
