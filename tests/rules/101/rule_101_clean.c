/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/101/rule_101_bad.c"
