/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/301/rule_301_bad.c"
