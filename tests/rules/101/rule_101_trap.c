/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/101/rule_101_bad.c"
