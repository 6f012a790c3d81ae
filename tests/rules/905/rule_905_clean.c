/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/905/rule_905_bad.c"
