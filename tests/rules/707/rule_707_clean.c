/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/707/rule_707_bad.c"
