/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/102/rule_102_bad.c"
