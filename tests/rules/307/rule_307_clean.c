/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/307/rule_307_bad.c"
