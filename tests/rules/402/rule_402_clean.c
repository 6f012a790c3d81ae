/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/402/rule_402_bad.c"
