/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/707/rule_707_bad.c"
