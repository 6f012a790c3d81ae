/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/402/rule_402_bad.c"
