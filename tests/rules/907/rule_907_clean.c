/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/907/rule_907_bad.c"
