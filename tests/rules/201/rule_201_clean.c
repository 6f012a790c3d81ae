/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/201/rule_201_bad.c"
