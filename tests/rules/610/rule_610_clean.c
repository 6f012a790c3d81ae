/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/610/rule_610_bad.c"
