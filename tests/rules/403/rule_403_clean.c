/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/403/rule_403_bad.c"
