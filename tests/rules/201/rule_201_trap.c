/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/201/rule_201_bad.c"
