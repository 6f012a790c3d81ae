/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/601/rule_601_bad.c"
