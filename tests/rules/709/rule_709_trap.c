/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/709/rule_709_bad.c"
