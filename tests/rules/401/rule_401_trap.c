/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/401/rule_401_bad.c"
