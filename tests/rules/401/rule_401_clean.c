/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/401/rule_401_bad.c"
