/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/105/rule_105_bad.c"
