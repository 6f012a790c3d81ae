/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/304/rule_304_bad.c"
