/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/403/rule_403_bad.c"
