/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/202/rule_202_bad.c"
