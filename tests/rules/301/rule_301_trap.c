/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/301/rule_301_bad.c"
