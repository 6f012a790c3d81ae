/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/105/rule_105_bad.c"
