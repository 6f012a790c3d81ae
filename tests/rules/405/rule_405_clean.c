/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/405/rule_405_bad.c"
