/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/102/rule_102_bad.c"
