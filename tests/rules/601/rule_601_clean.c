/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/601/rule_601_bad.c"
