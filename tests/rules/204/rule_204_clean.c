/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/204/rule_204_bad.c"
