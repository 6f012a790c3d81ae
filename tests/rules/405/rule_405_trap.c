/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/405/rule_405_bad.c"
