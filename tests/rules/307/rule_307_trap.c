/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/307/rule_307_bad.c"
