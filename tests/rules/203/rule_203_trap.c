/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/203/rule_203_bad.c"
