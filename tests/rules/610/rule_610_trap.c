/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/610/rule_610_bad.c"
