/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/304/rule_304_bad.c"
