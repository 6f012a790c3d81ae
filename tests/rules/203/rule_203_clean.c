/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/203/rule_203_bad.c"
