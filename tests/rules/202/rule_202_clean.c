/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/202/rule_202_bad.c"
