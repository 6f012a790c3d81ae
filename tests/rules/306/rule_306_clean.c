/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/306/rule_306_bad.c"
