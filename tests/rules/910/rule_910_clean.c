/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/910/rule_910_bad.c"
