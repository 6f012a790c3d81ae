/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/905/rule_905_bad.c"
